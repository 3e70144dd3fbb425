# SPDX-License-Identifier: Apache-2.0
"""Ray's workers as an executor: holotrace.open(paths, executor=RayExecutor()).

Ray has no concurrent.futures.Executor of its own, but a future of that kind for what it computes. Nothing else here
imports Ray.
"""
import concurrent.futures

import ray


class RayExecutor(concurrent.futures.Executor):
    """Tasks of the Ray that this program is connected to; ray.init() is called where it is not.

    Options are those of ray.remote: num_cpus, resources, scheduling_strategy, runtime_env, max_retries. A task whose
    worker dies is tried again by Ray, three times unless max_retries says otherwise.
    """

    def __init__(self, **options):
        if not ray.is_initialized():
            ray.init()
        self._options, self._remote = options, {}
        cpus = ray.cluster_resources().get("CPU", 1) / (options.get("num_cpus") or 1)
        self._max_workers = max(1, int(cpus))

    def submit(self, fn, /, *args, **kwargs):
        if fn not in self._remote:
            self._remote[fn] = ray.remote(**self._options)(fn) if self._options else ray.remote(fn)
        answer = concurrent.futures.Future()
        answer.set_running_or_notify_cancel()
        self._remote[fn].remote(*args, **kwargs).future().add_done_callback(lambda done: _pass_on(done, answer))
        return answer


def _pass_on(done, answer):
    """What the function raised, not Ray's account of it."""
    error = done.exception()
    if error is None:
        answer.set_result(done.result())
    else:
        answer.set_exception(getattr(error, "cause", None) or error)
