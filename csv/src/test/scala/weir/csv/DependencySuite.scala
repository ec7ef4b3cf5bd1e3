package weir.csv

/** Outside of `core` only the public API of Weir is used. */
class DependencySuite extends weir.rules.PublishedSuite(Csv.getClass)
