/* A cooled tubular reactor in which A becomes the product B, and B becomes waste.

   reactor CASE reads the file CASE, which has the temperature of the coolant (K), and the diameter
   and the length of a tube (m). The product warms the feed, so the tube is integrated again and
   again until its inlet temperature no longer changes, which now and then never happens. Exits with
   75 if there is no licence, and with 1 if the temperature runs away. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { A, B, T, N }; /* concentrations of A and B (mol/m3), and the temperature (K) */

static const double SPEED = 1.2;       /* of the gas, m/s */
static const double FEED = 40.0;       /* concentration of A at the inlet, mol/m3 */
static const double TRANSFER = 60.0;   /* to the coolant, W/(m2 K) */
static const double CAPACITY = 2100.0; /* of the gas, J/(m3 K) */
static const double RECOVERED = 0.8;   /* the share of the product's heat that warms the feed */
static const double TOO_HOT = 900.0;   /* for the steel, K */

struct tube {
    double coolant, diameter, length;
};

/* Derivatives with respect to the place in the tube. */
static void slope(struct tube tube, const double y[N], double dy[N])
{
    double wanted = 3.0e9 * exp(-9200.0 / y[T]) * y[A];
    double waste = 1.0e11 * exp(-11900.0 / y[T]) * y[B];
    double cooling = 4.0 * TRANSFER / tube.diameter * (y[T] - tube.coolant);
    dy[A] = -wanted / SPEED;
    dy[B] = (wanted - waste) / SPEED;
    dy[T] = (8.5e3 * wanted + 1.0e4 * waste - cooling) / CAPACITY / SPEED;
}

/* One step by Heun's method; returns its largest relative error. */
static double step(struct tube tube, const double y[N], double h, double next[N])
{
    double first[N], second[N], error = 0.0;
    slope(tube, y, first);
    for (int i = 0; i < N; i++)
        next[i] = y[i] + h * first[i];
    slope(tube, next, second);
    for (int i = 0; i < N; i++) {
        error = fmax(error, fabs(h / 2 * (second[i] - first[i])) / (fabs(y[i]) + 1.0));
        next[i] = y[i] + h / 2 * (first[i] + second[i]);
    }
    return error;
}

/* Integrates along the tube; returns the highest temperature. */
static double along(struct tube tube, double tolerance, double y[N])
{
    double next[N], z = 0.0, h = 1e-4, peak = y[T];
    while (z < tube.length) {
        double left = tube.length - z, error = step(tube, y, fmin(h, left), next);
        if (error <= tolerance) {
            z += fmin(h, left);
            memcpy(y, next, sizeof next);
            peak = fmax(peak, y[T]);
        }
        if (!(peak < TOO_HOT)) {
            fprintf(stderr, "reactor: the temperature runs away at z=%.2f m\n", z);
            exit(1);
        }
        h *= fmin(2.0, 0.9 * sqrt(tolerance / fmax(error, 1e-300)));
    }
    return peak;
}

int main(int argc, char **argv)
{
    struct tube tube;
    double tolerance;
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (!file || fscanf(file, "coolant %lf diameter %lf length %lf tolerance %lf", &tube.coolant,
                        &tube.diameter, &tube.length, &tolerance) != 4) {
        fprintf(stderr, "usage: reactor CASE, a file with coolant, diameter, length, tolerance\n");
        return 2;
    }
    const char *licence = getenv("REACTOR_LICENCE");
    if (licence && !fopen(licence, "r")) {
        fprintf(stderr, "reactor: no licence\n");
        return 75;
    }
    double y[N], peak = 0.0, inlet = tube.coolant, before = 0.0;
    int times = 0;
    while (fabs(inlet - before) > 0.001) {
        y[A] = FEED, y[B] = 0.0, y[T] = before = inlet;
        peak = along(tube, tolerance, y);
        inlet = tube.coolant + RECOVERED * (y[T] - tube.coolant);
        printf("inlet temperature %.3f K, outlet %.3f K\n", before, y[T]);
        times++;
    }
    double yield = y[B] / FEED, heating = 0.06 * (tube.coolant - 290.0);
    double steel = 0.9 * tube.length / tube.diameter;
    printf("conversion = %.5f\n", 1.0 - y[A] / FEED);
    printf("yield = %.5f\n", yield);
    printf("Tpeak = %.2f K\n", peak);
    printf("cost = %.4f\n", (20.0 + steel + heating) / fmax(yield, 1e-3));
    printf("elapsed: %d iterations\n", times);
    return 0;
}
