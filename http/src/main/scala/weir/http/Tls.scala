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

  /** Returns the engine that encrypts a connection of a server. **Fails** if `change` has set an
    * invalid parameter.
    */
  private[http] def engine(): SSLEngine =
    val engine = currentContext.createSSLEngine()
    engine.setUseClientMode(false)
    val parameters = engine.getSSLParameters
    change(parameters)
    engine.setSSLParameters(parameters)
    engine

object Tls:
  /** Returns TLS with `context`. At a server, it contains the certificate of the server and its
    * key. At a client, it decides which certificates are trusted. `change` may set more parameters,
    * such as `setNeedClientAuth`.
    *
    * A server evaluates `context` for each connection. So a renewed certificate needs no restart:
    * let `context` return the one with the latest certificate. A client evaluates it once.
    */
  def apply(context: => SSLContext, change: SSLParameters => Unit = _ => ()): Tls =
    new Tls(() => context, change)
