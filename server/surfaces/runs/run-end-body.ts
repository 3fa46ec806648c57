import { ambiguityOf, ambiguousName } from "../../wire/json/ambiguous-name.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { DECLARED_END_STATES, RUN_OUTCOMES } from "@gatehouse/contracts/runs";
import { type FieldError, type Refusal, refuse } from "../../kernel/errors.ts";

interface EndBody {
  readonly state: (typeof DECLARED_END_STATES)[number] | null;
  readonly outcome: (typeof RUN_OUTCOMES)[number] | null;
}

export function readRunEnd(body: Uint8Array | null): EndBody | Refusal {
  let value: unknown = {};
  try {
    if (body !== null && body.byteLength > 0) value = JSON.parse(new TextDecoder().decode(body));
  } catch {
    return refuse("invalid_body", undefined, { fields: [{ field: "", message: "is not JSON" }] });
  }
  if (!isObject(value)) return refuse("invalid_body", undefined, { fields: [{ field: "", message: "must be a JSON object" }] });
  const unclear = ambiguousName(value as JsonObject);
  if (unclear !== null) return refuse("ambiguous_name", ambiguityOf(unclear));
  const { state = null, outcome = null, ...rest } = value as Record<string, unknown>;
  const fields: FieldError[] = Object.keys(rest).map((field) => ({ field, message: "is not known here" }));
  if (state !== null && !DECLARED_END_STATES.some((known) => known === state))
    fields.push({ field: "state", message: `must be one of ${DECLARED_END_STATES.join(", ")}` });
  if (outcome !== null && !RUN_OUTCOMES.some((known) => known === outcome))
    fields.push({ field: "outcome", message: `must be one of ${RUN_OUTCOMES.join(", ")}` });
  return fields.length > 0
    ? refuse("invalid_body", undefined, { fields })
    : { state: state as EndBody["state"], outcome: outcome as EndBody["outcome"] };
}
