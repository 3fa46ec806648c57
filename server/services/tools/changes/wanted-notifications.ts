import { isObject, type JsonObject } from "../../../kernel/json-value.ts";
import { type ChangeFilter, isWantedChange } from "../../../wire/mcp/changes.ts";
import { META } from "../../../wire/mcp/dialect.ts";
import { answers, exactMessage } from "../../../wire/mcp/rpc.ts";
import type { Asked } from "../forwarding/exchange.ts";

/** Yields a subscription's notifications that pass the filter, without the subscription ID. */
export async function* wantedNotifications(exchange: Asked, wanted: ChangeFilter): AsyncGenerator<JsonObject, void> {
  try {
    for await (const { text, value } of exchange.messages) {
      if (answers(value, exchange.id)) return;
      if (isWantedChange(wanted, value)) yield unmarked(exactMessage(text, value));
    }
  } catch {
    // The stream broke or was aborted; either way it ends.
  }
}

function unmarked(message: JsonObject): JsonObject {
  const { params } = message;
  if (!isObject(params) || !isObject(params._meta)) return message;
  const { [META.subscription]: _mark, ...meta } = params._meta;
  const { _meta: _whole, ...rest } = params;
  return { ...message, params: Object.keys(meta).length === 0 ? rest : { ...rest, _meta: meta } };
}
