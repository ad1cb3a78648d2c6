"""The doors as processes of the real program: a key, an episode, kill -9 in the middle, and on it goes."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from api.agent_client import AgentSeat, CuratorClient
from api.serve import DoorProcess
from api.workspace import Workspace
from environments.families import family
from environments.task import Options
from tests.evaluated_workspace import almanac, make_workspace
from tests.mini_release import VERSION

pytestmark = pytest.mark.slow


def test_an_episode_survives_kill_9_of_the_agent_door(tmp_path: Path) -> None:
    """After two actions and kill -9 the same token goes on with an exact budget, and the score is read."""
    root = make_workspace(tmp_path / "w", ("kepler",))
    made = almanac("key", "create", "--scope", "evaluate", "--json", workspace=root)
    key = json.loads(made.stdout)["key"]
    with DoorProcess("agent", root) as agent:
        port = int(agent.url.rsplit(":", 1)[1])
        with DoorProcess("curator", root, extra=("--agent-url", agent.url)) as curator:
            client = CuratorClient(curator.url, key)
            rows = client.tasks(VERSION)["rows"]
            task = next(row for row in rows if row["setting"] == "discovery")
            identity, token, url = client.create_episode(VERSION, task["id"], "adaptive", 0)
            seat = AgentSeat(url, token)
            full = seat.remaining["calls"]
            held = Workspace.find(root).release(VERSION).task(task["id"])
            policy = family("law").reference(
                held.definition, Options(setting="discovery", protocol="adaptive")
            )
            policy.start(seat.brief, seat.tools)
            refused = seat.call("propose_experiment", {}, "one")
            first = policy.act(None)
            assert first is not None
            observed = seat.call(*first, "two")
            assert not refused.ok
            assert observed.ok
            os.kill(agent.process.pid, signal.SIGKILL)
            agent.process.wait()
            with DoorProcess("agent", root, port=port):
                assert seat.call(*first, "two") == observed
                assert seat.remaining == {"calls": full - 2}
                last = policy.act(observed)
                assert last is not None
                done = seat.call(*last, "three")
                assert done.done
                assert done.remaining == {"calls": full - 3}
                score = client.score(identity)
                assert (score.headline, score.passed) == (1.0, {"weak": True, "strict": True})
            seat.close()
            client.close()
