package weir.http

import javax.net.ssl.{SSLContext, SSLEngine, SSLParameters}

/** The TLS of a server, or of a client.
  * {{{
  * def secured(context: javax.net.ssl.SSLContext): ServerSettings =
  *   ServerSettings(tls = Some(Tls(context)))
  * }}}
  */
final class Tls private (context: () => SSLContext, change: SSLParameters => Unit):

  private[http] def currentContext: SSLContext = context()

  /** Returns the parameters of `of`, as `change` leaves them. */
  private[http] def parameters(of: SSLContext): SSLParameters =
    val parameters = of.getDefaultSSLParameters
    change(parameters)
    parameters

  /** Returns what encrypts a connection of a server. **Fails** if `change` has set a parameter that
    * cannot be.
    */
  private[http] def engine(): SSLEngine =
    val engine = currentContext.createSSLEngine()
    engine.setUseClientMode(false)
    val parameters = engine.getSSLParameters
    change(parameters)
    engine.setSSLParameters(parameters)
    engine

object Tls:
  /** Returns TLS by `context`: at a server, it has the certificate of the server and its key; at a
    * client, it says which certificates are trusted. `change` may set more parameters, such as
    * `setNeedClientAuth`.
    *
    * A server evaluates `context` for each connection. So a certificate that is renewed needs no
    * restart: let `context` be the one that was made of the latest certificate. A client evaluates
    * it once.
    */
  def apply(context: => SSLContext, change: SSLParameters => Unit = _ => ()): Tls =
    new Tls(() => context, change)
