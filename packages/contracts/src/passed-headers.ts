/** Names that speak of the connection, of the body as it is on the wire, or of whom the gateway deals with. */
const OWN =
  /^(?:connection|keep-alive|te|trailer|transfer-encoding|upgrade|via|host|expect|date|server|vary|etag|age|allow|location|forwarded|user-agent|accept|accept-.*|content-.*|cache-control|x-forwarded-.*|x-real-ip|proxy-.*|sec-.*|access-control-.*|strict-transport-security|origin|referer|alt-svc|x-gw-.*|x-gateway-.*|x-request-id|request-id|x-correlation-id|traceparent|tracestate|x-tenant-id|x-resource-group|x-approval-token|x-accel-.*|retry-after.*|x-should-retry)$/;
/** Names that carry a credential, whoever gives it to whom. */
const CREDENTIAL = /auth|cookie|secret|password|credential|(?:^|-)(?:api-?)?key$|(?:^|-)token$|signature$/;

/** Whether a header of this name, in lower case, may pass between callers and providers. */
export function mayPass(name: string): boolean {
  return name === "idempotency-key" || !(OWN.test(name) || CREDENTIAL.test(name));
}

/** Whether one of the names, of which those that end in `*` stand for all that begin so, is this one. */
export function isNamed(names: readonly string[], name: string): boolean {
  return names.some((each) => (each.endsWith("*") ? name.startsWith(each.slice(0, -1)) : each === name)) && mayPass(name);
}
