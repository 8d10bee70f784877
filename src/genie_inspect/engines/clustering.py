"""Texts that mean nearly the same, put together; scikit-learn does the work."""

from typing import TYPE_CHECKING, Any

from genie_inspect.errors import MissingExtraError, UnknownChoiceError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

METHODS = ("k-means", "agglomerative", "hdbscan")
VARIANCE = 0.95  # kept before k-means (arXiv 2606.12790)
SMALLEST = 3  # members of an HDBSCAN cluster (arXiv 2606.12790)


def check_clustering(method: str) -> None:
    """Refuse an unknown method and a missing library, before anything is asked.

    Raises:
        UnknownChoiceError: If the method is none of k-means, agglomerative and hdbscan.
        MissingExtraError: If scikit-learn is not installed.
    """
    from importlib.util import find_spec

    if method not in METHODS:
        raise UnknownChoiceError("method", method, "one of " + ", ".join(METHODS))
    if find_spec("sklearn") is None:
        raise MissingExtraError(f"clustering by {method}", "discovery")


def clusters(vectors: "NDArray[np.float64]", count: int, method: str, seed: int = 0) -> list[int]:
    """A label from 0 for each vector; -1 where HDBSCAN finds it belongs to none.

    Args:
        vectors: One a row, shape (N, D).
        count: Clusters for k-means and agglomerative, at most as many as there are distinct vectors; HDBSCAN finds its
            own number.
        method: k-means (after PCA to 95% of the variance), agglomerative (Ward) or hdbscan (at least 3 members).
        seed: For k-means.

    Raises:
        UnknownChoiceError: If the method is unknown.
        MissingExtraError: If scikit-learn is not installed.
    """
    check_clustering(method)
    import numpy as np
    from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans
    from sklearn.decomposition import PCA

    distinct = len(np.unique(vectors, axis=0))
    # scikit-learn warns or fails when asked for more clusters than there are distinct points
    count = max(1, min(count, distinct))
    if distinct < 2:
        return [0] * len(vectors)
    model: Any
    if method == "k-means":
        vectors = PCA(VARIANCE, svd_solver="full", random_state=seed).fit_transform(vectors)
        left = len(np.unique(vectors.round(6), axis=0))  # what the components that went held apart may be one point now
        model = KMeans(min(count, left), n_init=10, random_state=seed)
    elif method == "agglomerative":
        model = AgglomerativeClustering(count, linkage="ward")
    else:
        model = HDBSCAN(min_cluster_size=min(SMALLEST, len(vectors)), copy=True)
    return [int(label) for label in model.fit_predict(vectors)]
