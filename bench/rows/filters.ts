import { FIELD_NAMES, FIELDS, type FieldName } from "@gatehouse/ledger-format/fields";

/** Values that few of the generated rows have: one in ten thousand to one in half a million. */
export const RARE: Partial<Record<FieldName, unknown>> = {
  proxy_subtype: "responses_rare",
  endpoint: "/v1/llm/rare",
  http_method: "GET",
  llm_model_used: "model-rare",
  http_status_code: 418,
  error_type: "teapot",
  guardrail_check: "jailbreak",
  source: "otel",
  tags: "late",
  is_auth_event: true,
  duration_ms: 3,
  llm_prompt_tokens: 19_999,
  request_size_bytes: 9_400,
};

const NOWHERE = {
  text: "nowhere",
  integer: 987_654_321,
  number: 0.987654,
  boolean: true,
  timestamp: "2020-01-01T00:00:00.000000Z",
  json: "nowhere",
} as const;

/** A value of the field's type that no row has; except for booleans, which rows may have. */
export const nowhere = (field: FieldName): unknown => NOWHERE[FIELDS[field].type];

/** Fields that queries can filter on. */
export const FILTERED: readonly FieldName[] = FIELD_NAMES.filter((name) => !name.endsWith("_preview"));

/** A request or response header that many rows have, and one that none has. */
export const HEADERS: readonly (readonly [what: string, field: FieldName, value: unknown])[] = [
  ["request_headers one header common", "request_headers", { "content-type": "application/json" }],
  ["request_headers one header some", "request_headers", { "user-agent": "client/7.0" }],
  ["request_headers one header absent", "request_headers", { "user-agent": "nobody/1.0" }],
  ["response_headers one header absent", "response_headers", { "x-request-id": "nobody" }],
];
