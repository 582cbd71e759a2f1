"""Worker processes: each has a state of its own, tasks have limits, and a process that dies costs only its task.

A process is spoken to by a socket.
"""

from denoise_crawler.workers.pool import Task, Worker, Workers, running, side_by_side, worker_number
from denoise_crawler.workers.process import NO_LIMITS, Limits

__all__ = ["NO_LIMITS", "Limits", "Task", "Worker", "Workers", "running", "side_by_side", "worker_number"]
