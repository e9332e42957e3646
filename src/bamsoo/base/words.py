"""Words of other libraries, with what they are called here: for the sentences of errors."""

from collections.abc import Mapping

MEANT = {
    **dict.fromkeys(
        (
            "n_trials",
            "num_trials",
            "total_trials",
            "n_calls",
            "n_iter",
            "max_evals",
            "max_iter",
            "maxiter",
            "maxfev",
            "maxfun",
            "max_nfev",
        ),
        "budget, the largest number of evaluations",
    ),
    **dict.fromkeys(
        ("n_jobs", "num_workers", "max_workers", "parallel", "parallelism", "n_parallel"), "workers"
    ),
    **dict.fromkeys(("random_state", "random_seed", "rstate"), "seed"),
    **dict.fromkeys(("bounds", "dimensions", "search_space", "params", "parameters"), "space"),
    **dict.fromkeys(("func", "f", "objective"), "fun"),
    **dict.fromkeys(("verbose", "disp", "show_progress_bar"), "progress=True"),
    **dict.fromkeys(("sampler", "method", "algo", "optimizer"), "algorithm"),
    **dict.fromkeys(("points_to_evaluate", "initial_guess"), "x0"),
    **dict.fromkeys(
        ("storage", "study_name", "load_if_exists", "checkpoint", "resume"),
        'study, the path of a file, such as "run.db"; one that exists is continued',
    ),
    **dict.fromkeys(
        ("directions", "metric", "metrics"),
        'objectives, such as {"loss": "min", "accuracy": "max"}',
    ),
    **dict.fromkeys(("y0", "trials"), "known, a list of (point, value)"),
    "direction": "bamsoo.minimize or bamsoo.maximize, which have no direction",
    **dict.fromkeys(("maximize", "maximise"), "bamsoo.maximize"),
    **dict.fromkeys(
        ("tolerance", "ftol", "xtol", "gtol", "atol"), "tol, the smallest gain that matters"
    ),
    **dict.fromkeys(("max_time", "time_limit", "walltime", "max_seconds"), "timeout"),
    "callbacks": "callback",
    "early_stopping": "stop=bamsoo.Stalled(20), which ends a run without gains",
    "catch": 'on_error="fail", with which an exception fails its evaluation alone',
    "pruner": "steps, with which evaluations that cannot win are stopped",
    "scheduler": "steps, with which evaluations that cannot win are stopped",
    "args": "functools.partial(fun, ...), or fixed parameters in the space",
    "fidelity": "bamsoo.Fidelity, as a parameter of the space",
}
"""Arguments of other libraries."""

NEEDLESS = {
    **dict.fromkeys(
        (
            "n_initial_points",
            "n_random_starts",
            "init_points",
            "n_init",
            "n_startup_trials",
            "initial_design",
            "initial_point_generator",
        ),
        "the search chooses its first points itself, after those of x0=",
    ),
    **dict.fromkeys(
        ("acq_func", "acq_optimizer", "acquisition_function", "kappa", "xi", "base_estimator"),
        "the search has no acquisition function to choose",
    ),
    **dict.fromkeys(("popsize", "mutation", "recombination"), "the search has no population"),
    **dict.fromkeys(("jac", "hess", "diff_step", "x_scale"), "the search uses values alone"),
    "gc_after_trial": "nothing is collected between trials",
    "options": "an algorithm with settings is an object, such as algorithm=BaMSOO(eta=0.1)",
}
"""Arguments of other libraries that have no equivalent, with the reason."""

FIT = {
    "objectives": "the sum of squares is the one objective of a fit",
    "steps": "the value of a fit is known when all residuals are",
}
"""Arguments of `minimize` that `least_squares` does not have, with the reason."""

PACKAGE = {
    **dict.fromkeys(
        ("create_study", "load_study", "AxClient", "Client"),
        'minimize(..., study="run.db"), or Study.open("run.db", space=...) to ask and tell',
    ),
    **dict.fromkeys(("Float", "Uniform", "LogUniform", "FloatDistribution"), "Real"),
    **dict.fromkeys(("Integer", "IntDistribution", "RandInt"), "Int"),
    **dict.fromkeys(("Categorical", "CategoricalDistribution", "OneOf", "Bool"), "Choice"),
    **dict.fromkeys(
        ("fmin", "gp_minimize", "optimize", "differential_evolution", "direct", "dual_annealing"),
        "minimize",
    ),
    "curve_fit": "least_squares",
    "BayesianOptimization": "minimize, or Optimizer to ask and tell",
    **dict.fromkeys(("BaMSOOSampler", "BamsooSampler"), "bamsoo.integrations.optuna.BaMSOOSampler"),
    **dict.fromkeys(
        ("BayesSearchCV", "BamsooSearchCV"), "bamsoo.integrations.sklearn.BamsooSearchCV"
    ),
    "Constant": "the value itself, in the space",
    "TrialPruned": "steps=, with which evaluations that cannot win are stopped",
}
"""Names of other libraries."""

RESULT = {
    **dict.fromkeys(
        ("best_params", "best_params_", "best_parameters", "best_x", "best_point"), "params"
    ),
    **dict.fromkeys(
        ("best_value", "best_score_", "best_values", "best_f", "best_fun", "best_loss"), "fun"
    ),
    **dict.fromkeys(("trials", "get_trials", "history"), "evaluations"),
    "best_trial": "params and fun, the best point and its value",
    "best_trials": "front",
    "x_iters": "X",
    "func_vals": "F",
    "trials_dataframe": "to_dataframe()",
}
"""What a `Result` is asked for."""

OPTIMIZER = {
    **{name: f"result.{meant}" for name, meant in RESULT.items()},
    **dict.fromkeys(("suggest", "get_next_trial", "get_next_trials"), "ask"),
    **dict.fromkeys(("register", "observe", "complete_trial", "add_trial"), "tell"),
    **dict.fromkeys(("probe", "enqueue_trial", "attach_trial"), "enqueue"),
    **dict.fromkeys(
        ("optimize", "minimize", "maximize"),
        "bamsoo.minimize(fun, space, budget, study=...), which asks and tells by itself",
    ),
}
"""What an `Optimizer` or a `Study` is asked for."""

TRIAL = {
    **dict.fromkeys(
        ("suggest_float", "suggest_int", "suggest_categorical", "suggest_uniform"),
        "params, which has a value for each parameter; the space declares them beforehand",
    ),
    **dict.fromkeys(("report", "should_prune"), "opt.report(trial, step, value): True means go on"),
    "set_user_attr": "opt.tell(trial, value, extras={...})",
    "suggest": "params",
    "values": "params",
}
"""What a `Trial` is asked for."""


def no_attribute(owner: object, name: str, words: Mapping[str, str]) -> AttributeError:
    """The error about an attribute that does not exist, with the one that was probably meant."""
    said = f"{type(owner).__name__!r} object has no attribute {name!r}"
    return AttributeError(f"{said}; did you mean {words[name]}?" if name in words else said)
