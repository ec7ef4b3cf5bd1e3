package weir.feeds.fetch

/** The properties of the JDK's client that fetching needs, to be set before the first client is
  * made.
  */
private[fetch] object ClientProperties:
  /** Lets a request have a `Host` of its own, and log in to a proxy by `Basic` also where the
    * request goes through a tunnel.
    */
  def set(): Unit =
    val _ = System.setProperty("jdk.httpclient.allowRestrictedHeaders", "host")
    val _ = System.setProperty("jdk.http.auth.tunneling.disabledSchemes", "")
