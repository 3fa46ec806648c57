import { exactlyWritten } from "../../kernel/exact-numbers.ts";
import { isObject, type JsonValue } from "../../wire/document.ts";
import type { TextSlot } from "../../wire/inbound.ts";
import { EMPTY_VIEW, type RequestView } from "../view.ts";
import type { ToolRequest } from "./tool-request.ts";

/** The view of a request to a tool server: its texts are those of the arguments, each replaceable in place. */
export function toolView({ target, message, capability }: ToolRequest): RequestView {
  const changed = () => message?.document.touch("params", exactlyWritten);
  const texts = (): readonly TextSlot[] => {
    const slots: TextSlot[] = [];
    if (message !== null && (message.method === "tools/call" || message.method === "prompts/get")) collect(message.params, "arguments", slots, changed);
    if (message?.method === "completion/complete") {
      for (const [holder, key] of [[message.params.argument, "value"], [message.params.context, "arguments"]] as const) if (isObject(holder)) collect(holder, key, slots, changed);
    }
    return slots;
  };
  return {
    ...EMPTY_VIEW,
    tool: { kind: target.kind, serverId: target.id, method: message?.method ?? null, capability, arguments: message?.params.arguments },
    texts,
    content: () => message?.document.text() ?? "",
    get inputCharacters() {
      return texts().reduce((sum, { text }) => sum + text.length, 0);
    },
  };
}

/** Every text, whole number and name at or below `holder[key]`, in order; a name behind what it names. */
function collect(holder: Record<string, JsonValue | undefined> | JsonValue[], key: string | number, slots: TextSlot[], changed: () => void): void {
  const at = holder as Record<string | number, JsonValue | undefined>;
  const value = at[key];
  if (typeof value === "string" || Number.isSafeInteger(value)) {
    slots.push({
      role: "tool",
      kind: "text",
      get text() {
        return String(at[key]);
      },
      replace(text) {
        at[key] = text;
        changed();
      },
    });
  } else if (Array.isArray(value)) value.forEach((_, index) => collect(value, index, slots, changed));
  else if (isObject(value)) {
    for (const name of Object.keys(value)) {
      collect(value, name, slots, changed);
      slots.push(nameSlot(value as Record<string, JsonValue | undefined>, name, changed));
    }
  }
}

function nameSlot(holder: Record<string, JsonValue | undefined>, text: string, changed: () => void): TextSlot {
  return {
    role: "tool",
    kind: "text",
    text,
    replace(name) {
      const value = holder[text];
      delete holder[text];
      holder[name] = value;
      changed();
    },
  };
}
