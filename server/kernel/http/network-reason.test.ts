import { expect, test } from "bun:test";
import { reasonOf } from "../errors.ts";

const ADVICE = "For more information, pass `verbose: true` in the second argument to fetch()";

test.each([
  [`Malformed_HTTP_Response fetching "https://a.example/x?key=s3cr3t". ${ADVICE}`, "Malformed_HTTP_Response"],
  [`The socket connection was closed unexpectedly. ${ADVICE}`, "The socket connection was closed unexpectedly."],
  [
    `ERR_TLS_CERT_ALTNAME_INVALID fetching "https://192.0.2.1/x". ${ADVICE}`,
    "the certificate is for another host (ERR_TLS_CERT_ALTNAME_INVALID)",
  ],
  ["certificate has expired", "certificate has expired"],
  ["constructor", "constructor"],
])("the reason of the engine's error %j is %j", (message, reason) => {
  expect(reasonOf(new TypeError(message))).toBe(reason);
});
