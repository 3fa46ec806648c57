/** Headers about the connection, the body's encoding on the wire, or the gateway's own peers. */
const OWN =
  /^(?:connection|keep-alive|te|trailer|transfer-encoding|upgrade|via|host|expect|date|server|vary|etag|age|allow|location|forwarded|user-agent|accept|accept-.*|content-.*|cache-control|x-forwarded-.*|x-real-ip|proxy-.*|sec-.*|access-control-.*|strict-transport-security|origin|referer|alt-svc|x-gw-.*|x-gateway-.*|x-request-id|request-id|x-correlation-id|traceparent|tracestate|x-tenant-id|x-resource-group|x-approval-token|x-accel-.*|retry-after.*|x-should-retry)$/;
/** Names of headers that carry a credential, in either direction. */
const CREDENTIAL = /auth|cookie|secret|password|credential|(?:^|-)(?:api-?)?key$|(?:^|-)token$|signature$/;

/** Whether a header may pass between callers and providers. `name` is in lower case. */
export function mayPass(name: string): boolean {
  return name === "idempotency-key" || !(OWN.test(name) || CREDENTIAL.test(name));
}

/** Whether `name` matches one of `names` (a trailing `*` matches any suffix) and may pass at all. */
export function isNamed(names: readonly string[], name: string): boolean {
  return names.some((each) => (each.endsWith("*") ? name.startsWith(each.slice(0, -1)) : each === name)) && mayPass(name);
}
