"""The callbacks for MLflow and Weights & Biases, with the real packages and without a network."""

import json

import pytest

import bamsoo
from bamsoo.integrations.tracking import News, best_of

SPACE = {"rate": (0.0, 1.0), "kind": bamsoo.Choice(["a", "b"])}


def train(rate, kind):
    loss = (rate - 0.3) ** 2 + (kind == "b")
    return loss, {"seconds": 2, "file": f"{kind}.pt", "size": rate - 0.5}


def run(callback):
    return bamsoo.minimize(
        train, SPACE, 5, algorithm="soo", constraints=["size"], callback=callback,
        known=[({"rate": 0.1, "kind": "b"}, (3.0, {"size": 0.0}))],
    )  # fmt: skip


def test_each_evaluation_is_new_once():
    news, seen = News(), []
    r = run(lambda result: seen.extend(news.of(result)))
    assert [each.row for each in seen] == list(range(6))
    assert [each.name for each in seen[:2]] == ["given", "trial 0"]
    assert seen[1].texts == {"file": "a.pt", "state": "done"}
    assert seen[1].metrics == {"seconds": 2.0, "size": 0.0, "value": r.F[1]}
    assert seen[1].params == {"rate": 0.5, "kind": "a"}
    assert best_of(r) == {"best": r.fun}
    both = bamsoo.minimize(
        lambda x: [x[0], -x[0]], [(0, 1)], 3, objectives=["one", "two"], callback=lambda _: None
    )
    assert best_of(both) == {}
    assert set(next(News().of(both)).metrics) == {"one", "two"}


def test_mlflow(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # mlflow-skinny brings no database
    mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed")
    from bamsoo.integrations.mlflow import MLflowCallback

    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    with mlflow.start_run() as parent:
        r = run(MLflowCallback())
    client = mlflow.MlflowClient()
    runs = client.search_runs(["0"], f"tags.mlflow.parentRunId = '{parent.info.run_id}'")
    assert len(runs) == 6
    values = {each.data.metrics["value"] for each in runs}
    assert values == set(r.F.tolist())
    (first,) = (each for each in runs if each.info.run_name == "trial 0")
    assert first.data.params == {"rate": "0.5", "kind": "a"}
    assert first.data.tags["file"] == "a.pt"
    assert client.get_run(parent.info.run_id).data.metrics["best"] == r.fun


def test_mlflow_shows_which_evaluations_failed_or_were_stopped(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed")
    from bamsoo.integrations.mlflow import MLflowCallback

    def curve(x):
        for _ in range(9):
            yield float("nan") if x[0] > 0.9 else float(x[0])

    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    with mlflow.start_run() as parent:
        r = bamsoo.minimize(
            curve, [(0, 1)], 6, steps=9, x0=[[0.1], [0.95]], callback=MLflowCallback()
        )
        assert mlflow.active_run().info.run_id == parent.info.run_id
    runs = mlflow.MlflowClient().search_runs(
        ["0"], f"tags.mlflow.parentRunId = '{parent.info.run_id}'"
    )
    status = {each.info.run_name: each.info.status for each in runs}
    said = {"failed": "FAILED", "stopped": "KILLED", "finished": "FINISHED"}
    assert status == {f"trial {e.number}": said[e.state] for e in r.evaluations}
    assert {"FAILED", "KILLED", "FINISHED"} <= set(status.values())


def test_wandb(tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb", reason="wandb is not installed")
    from bamsoo.integrations.wandb import WandbCallback

    with pytest.raises(bamsoo.BamsooError, match="no active run of wandb"):
        run(WandbCallback())
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    with wandb.init(dir=str(tmp_path), project="bamsoo") as active:
        r = run(WandbCallback())
        summary = dict(active.summary)
    assert summary["best"] == r.fun
    assert summary["value"] == r.F[-1]
    assert summary["_step"] == 5
    assert summary["file"] in ("a.pt", "b.pt")
    assert json.dumps(summary["param:kind"]) in ('"a"', '"b"')
