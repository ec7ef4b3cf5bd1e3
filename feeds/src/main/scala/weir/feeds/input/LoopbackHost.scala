package weir.feeds.input

/** Tells whether a host is this machine by its name alone. */
object LoopbackHost:
  /** @param host
    *   as [[FeedUrl.host]] has it, with its port
    */
  def is(host: String): Boolean =
    val name = host.replaceFirst(":[0-9]+$", "").stripSuffix(".")
    name == "localhost" || name.endsWith(".localhost") || name == "[::1]" || ipv4.matches(name)

  private val ipv4 = """127(?:\.[0-9]{1,3}){3}""".r
