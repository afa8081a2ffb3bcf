"""A batch on Kubernetes: python on_kubernetes.py IMAGE 's3://lab/boots/*.log.gz' s3://lab/results.

IMAGE holds tickgauge[dask,s3]; the cluster runs the operator of dask-kubernetes.
"""

import sys

import distributed
from dask_kubernetes.operator import KubeCluster, make_cluster_spec

import tickgauge as tg


def manifest(image: str, workers: int = 10) -> dict:
    """The cluster as a custom resource; distributed 2026.6 has no `dask-worker` any more."""
    made = make_cluster_spec("boots", image, workers, worker_command="dask worker --nthreads 1")
    (scheduler,) = made["spec"]["scheduler"]["spec"]["containers"]
    if scheduler["args"][0] == "dask-scheduler":
        scheduler["args"][:1] = ["dask", "scheduler"]
    return made


def main(image: str, logs: str, results: str) -> None:
    """Read the logs."""
    cluster = KubeCluster(custom_cluster_spec=manifest(image), namespace="default")
    with cluster, distributed.Client(cluster) as client:
        print(tg.batch(logs, client=client, out=results))


if __name__ == "__main__":
    main(*sys.argv[1:4])
