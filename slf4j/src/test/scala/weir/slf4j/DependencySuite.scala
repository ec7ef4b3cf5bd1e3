package weir.slf4j

/** Outside of `core` only the public API of Weir is used. */
class DependencySuite extends weir.rules.PublishedSuite(classOf[MdcHook])
