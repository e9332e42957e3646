"""Finding objects in pictures by steps that are chosen one by one, with scikit-image."""

from typing import Any

import numpy as np

from bamsoo.space import Choice, Int, Real

from ..errors import require
from .simulator import Simulate, simulator

SIZE = 96
"""The side of a picture, in pixels."""


@simulator(
    "segmentation",
    "nested choices",
    "skimage",
    space={
        "background": Choice({"keep": {}, "subtract": {"wide": Real(3.0, 40.0, log=True)}}),
        "gamma": Real(0.3, 3.0, log=True),
        "smooth": Choice(
            {
                "none": {},
                "gaussian": {"sigma": Real(0.3, 6.0, log=True)},
                "median": {"radius": Int(1, 5)},
                "variation": {"weight": Real(0.01, 1.0, log=True)},
            }
        ),
        "threshold": Choice(
            {
                "otsu": {"shift": Real(0.5, 1.5)},
                "fixed": {"level": Real(0.0, 1.0)},
                "local": {"block": Int(1, 30), "offset": Real(-0.2, 0.2)},
                "hysteresis": {"low": Real(0.0, 1.0), "more": Real(0.0, 0.5)},
            }
        ),
        "clean": Choice(
            {
                "none": {},
                "opening": {"disk": Int(1, 5)},
                "small": {"pixels": Int(2, 300, log=True)},
            }
        ),
    },
)
def segmentation(instance: int) -> Simulate:
    """Blobs in a picture with uneven light and noise: 1 minus the Dice overlap with the truth.

    The instance determines the sizes of the blobs, the light and the noise.
    """
    require("skimage")
    import skimage.morphology as morphology
    from skimage import data, filters, restoration
    from skimage.util import img_as_float

    rng = np.random.default_rng(instance)
    truth = data.binary_blobs(
        SIZE, blob_size_fraction=rng.uniform(0.08, 0.15), volume_fraction=0.35, rng=instance
    )
    y, x = np.mgrid[0:SIZE, 0:SIZE] / SIZE
    light = 0.6 * (rng.uniform(-1.0, 1.0) * x + rng.uniform(-1.0, 1.0) * y)
    picture = 0.3 * filters.gaussian(img_as_float(truth), 1.0) + light
    picture += rng.normal(0.0, rng.uniform(0.1, 0.2), truth.shape)
    spots = rng.random(truth.shape) < 0.03
    picture = np.where(spots, rng.uniform(picture.min(), picture.max(), truth.shape), picture)

    def scaled(image: Any) -> Any:
        low, high = np.quantile(image, [0.005, 0.995])
        return np.clip((image - low) / max(high - low, 1e-9), 0.0, 1.0)

    def smoothed(image: Any, smooth: str, p: dict[str, Any]) -> Any:
        if smooth == "gaussian":
            return filters.gaussian(image, p["sigma"])
        if smooth == "median":
            return filters.median(image, morphology.disk(p["radius"]))
        if smooth == "variation":
            return restoration.denoise_tv_chambolle(image, p["weight"], max_num_iter=50)
        return image

    def marked(image: Any, threshold: str, p: dict[str, Any]) -> Any:
        if threshold == "otsu":
            return image > p["shift"] * filters.threshold_otsu(image)
        if threshold == "fixed":
            return image > p["level"]
        if threshold == "local":
            return image > filters.threshold_local(image, 2 * p["block"] + 1, offset=p["offset"])
        return filters.apply_hysteresis_threshold(image, p["low"], p["low"] + p["more"])

    def evaluate(
        seed: int, background: str, gamma: float, smooth: str, threshold: str, clean: str, **p: Any
    ) -> float:
        image = picture
        if background == "subtract":
            image = image - filters.gaussian(image, p["wide"])
        image = scaled(smoothed(scaled(image) ** gamma, smooth, p))
        mask = marked(image, threshold, p)
        if clean == "opening":
            mask = morphology.opening(mask, morphology.disk(p["disk"]))
        elif clean == "small":
            mask = morphology.remove_small_objects(mask, max_size=p["pixels"])
        both = np.logical_and(mask, truth).sum()
        return float(1.0 - 2.0 * both / max(mask.sum() + truth.sum(), 1))

    return evaluate
