"""Names the library of an array."""


def library_of(x):
    """The library of an array by the module of its type: "numpy", "torch", "cupy", "jax", "dask", "xarray", ..."""
    word = type(x).__module__.partition(".")[0]
    return "jax" if word == "jaxlib" else word
