package weir.rules

/** The packages that are no API, as `innerPackages` in build.sbt lists them. Scaladoc leaves out
  * the same ones.
  */
object InnerPackages:

  lazy val all: Set[String] =
    sys.props
      .getOrElse(
        "weir.innerPackages",
        throw IllegalStateException("The property weir.innerPackages is not set. Start it by sbt.")
      )
      .split(',')
      .toSet

  /** Returns true if the package `name` is one of `inner` or below one. */
  def contain(inner: Set[String], name: String): Boolean =
    inner.exists(one => name == one || name.startsWith(one + "."))
