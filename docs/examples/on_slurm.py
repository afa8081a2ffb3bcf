"""A batch on SLURM's nodes: python on_slurm.py 's3://lab/boots/*.log.gz' s3://lab/results.

A job is a node, and a process of it reads one log at a time. Cores, memory and time of a job stand
in dask.yaml beside this file; queue, account and prologue go there, too (dask-jobqueue).
"""

import sys

import distributed
from dask_jobqueue import SLURMCluster

import tickgauge as tg


def main(logs: str, results: str, jobs: int = 10) -> None:
    """Read the logs with so many jobs."""
    with SLURMCluster() as cluster, distributed.Client(cluster) as client:
        cluster.scale(jobs=jobs)
        client.wait_for_workers(1)
        print(tg.batch(logs, client=client, out=results))


if __name__ == "__main__":
    main(*sys.argv[1:3], *map(int, sys.argv[3:]))
