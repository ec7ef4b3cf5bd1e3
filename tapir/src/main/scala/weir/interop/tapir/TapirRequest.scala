package weir.interop.tapir

import _root_.sttp.model.{Header, Method, QueryParams, Uri}
import _root_.sttp.tapir.model.{ConnectionInfo, ServerRequest}
import _root_.sttp.tapir.{AttributeKey, AttributeMap}
import weir.http.Request

/** A request, as tapir's interpreter reads it. */
private final class TapirRequest private (request: Request, attributes: AttributeMap)
    extends ServerRequest:
  def protocol: String = "HTTP/1.1"
  def underlying: Any = request
  def method: Method = Method(request.method)
  lazy val connectionInfo: ConnectionInfo =
    ConnectionInfo(None, request.remote, Some(request.uri.getScheme == "https"))
  lazy val uri: Uri = Uri(request.uri)
  lazy val pathSegments: List[String] = request.segments.filter(_.nonEmpty)
  lazy val queryParameters: QueryParams = QueryParams.fromSeq(request.query)
  lazy val headers: Seq[Header] = request.headers.toVector.map(Header(_, _))

  def attribute[T](key: AttributeKey[T]): Option[T] = attributes.get(key)
  def attribute[T](key: AttributeKey[T], value: T): TapirRequest =
    new TapirRequest(request, attributes.put(key, value))
  def withUnderlying(underlying: Any): TapirRequest =
    new TapirRequest(underlying.asInstanceOf[Request], attributes)

private object TapirRequest:
  private val resourcesKey = AttributeKey[RequestResources]

  def apply(request: Request, resources: RequestResources): TapirRequest =
    new TapirRequest(request, AttributeMap.Empty.put(resourcesKey, resources))

  /** Returns the request that a request of tapir was made of. */
  def of(request: ServerRequest): Request = request.underlying.asInstanceOf[Request]

  def resources(request: ServerRequest): RequestResources = request.attribute(resourcesKey).get
