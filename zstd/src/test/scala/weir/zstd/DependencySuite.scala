package weir.zstd

/** Outside of `core` only the public API of Weir is used. */
class DependencySuite extends weir.rules.PublishedSuite(Zstd.getClass)
