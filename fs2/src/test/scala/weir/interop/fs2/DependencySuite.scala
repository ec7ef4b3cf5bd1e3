package weir.interop.fs2

/** Outside of `core` only the public API of Weir is used. */
class DependencySuite extends weir.rules.PublishedSuite(classOf[ToWeir[?]])
