import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import type { TextSlot } from "../inbound.ts";
import { isNoText, knownMembers, otherSlots, otherTexts, type OtherVisitor, visitOther, visitOthers } from "../texts/other-texts.ts";
import { addressSlots, base64Slots } from "../texts/text-documents.ts";
import { isReadAsText } from "../texts/text-file.ts";
import { visitToolTexts } from "../texts/tool-texts.ts";
import { isProse, PROSE } from "./prose.ts";

type Role = TextSlot["role"];

class Place implements TextSlot {
  readonly role: Role;
  readonly kind: TextSlot["kind"];
  text: string;
  owner?: object;
  private readonly put: (text: string) => void;

  constructor(role: Role, kind: TextSlot["kind"], text: string, put: (text: string) => void) {
    this.role = role;
    this.kind = kind;
    this.text = text;
    this.put = put;
  }

  replace(text: string): void {
    this.put(text);
    this.text = text;
  }
}

const CALLS: ReadonlySet<unknown> = new Set(["tool_use", "server_tool_use", "mcp_tool_use"]);
const IN_CALL: ReadonlySet<string> = new Set(["input"]);
const IN_THOUGHT: ReadonlySet<string> = new Set(["thinking"]);
const IN_OUTPUT: ReadonlySet<string> = new Set(["format"]);
const IN_MESSAGE: ReadonlySet<string> = new Set(["content"]);
/** Members of a block with tools that are inspected like tool definitions. */
const IN_ADDITION: ReadonlySet<string> = new Set(["tool", "tools"]);
const KNOWN = knownMembers({
  read: "messages system tools tool_choice output_format output_config",
  plain: "service_tier speed inference_geo container tool_choice output_format output_config",
  protocol: "mcp_servers metadata container context_management compaction thinking diagnostics betas cache_control",
});
/** Blocks that add tools, whose descriptions are not instructions. */
const BRINGING_TOOLS: ReadonlySet<unknown> = new Set(["tool_addition", "mcp_tool_listing"]);
/** Blocks without readable content. */
const WORDLESS: ReadonlySet<unknown> = new Set(["redacted_thinking", "container_upload"]);

/** Serializes a tool's input as it is spelled in the messages. */
type Written = (input: JsonObject) => string;

/**
 * Every text of a Messages body that the model would read, in order. `touch` is called with the top-level member in which
 * a replacement was made.
 */
export function textSlots(body: JsonObject, touch: (member: string) => void, written: Written = JSON.stringify): TextSlot[] {
  const slots: TextSlot[] = [];
  const others = otherTexts(body, KNOWN, touch);
  if (isObject(body.output_config))
    visitOthers(
      body.output_config,
      IN_OUTPUT,
      otherSlots(others, "user", () => touch("output_config")),
    );
  const walk = (holder: JsonObject, name: string, role: Role, found: Found) => {
    const value = holder[name];
    const from = slots.length;
    if (typeof value === "string") slots.push(textMember(holder, name, role, found.changed));
    else if (Array.isArray(value)) for (const block of value) if (isObject(block)) blockSlots(block, role, found);
    for (let at = from; at < slots.length; at++) slots[at] = ownedBy(holder, slots[at] as TextSlot);
  };
  visitToolTexts(body.tools, (holder) =>
    slots.push(textMember(holder as JsonObject, "description", "tool_definition", () => touch("tools"))),
  );
  walk(body, "system", "system", new Found(slots, others, () => touch("system"), written));
  if (Array.isArray(body.messages)) {
    const found = new Found(slots, others, () => touch("messages"), written);
    for (const message of body.messages) {
      if (!isObject(message)) continue;
      const role = message.role === "assistant" || message.role === "system" ? message.role : "user";
      walk(message, "content", role, found);
      visitOthers(message, IN_MESSAGE, found.other(role));
    }
  }
  return [...others, ...slots];
}

function ownedBy(owner: object, slot: TextSlot): TextSlot {
  if (!(slot instanceof Place)) return { ...slot, owner };
  slot.owner = owner;
  return slot;
}

function textMember(holder: JsonObject | JsonValue[], name: string | number, role: Role, changed: () => void): TextSlot {
  const places = holder as Record<string | number, JsonValue>;
  return new Place(role, "text", places[name] as string, (text) => {
    places[name] = text;
    changed();
  });
}

/** The texts below one member, and separately those that the format does not know. */
class Found {
  readonly slots: TextSlot[];
  readonly changed: () => void;
  readonly written: Written;
  private readonly others: TextSlot[];
  private readonly visitors = new Map<Role, OtherVisitor>();

  constructor(slots: TextSlot[], others: TextSlot[], changed: () => void, written: Written) {
    this.slots = slots;
    this.others = others;
    this.changed = changed;
    this.written = written;
  }

  /** A visitor for texts that the format does not know. */
  other(role: Role): OtherVisitor {
    let visit = this.visitors.get(role);
    if (visit === undefined) this.visitors.set(role, (visit = otherSlots(this.others, role, this.changed)));
    return visit;
  }
}

/** `title` is the name of the surrounding block. */
function blockSlots(block: JsonObject, role: Role, found: Found, title: string | null = null): void {
  const { type } = block;
  const { slots, changed } = found;
  if (WORDLESS.has(type)) return visitOthers(block, null, found.other(role));
  if (BRINGING_TOOLS.has(type)) {
    visitToolTexts(block, (holder) => slots.push(textMember(holder as JsonObject, "description", "tool_definition", changed)));
    visitOthers(block, IN_ADDITION, found.other(role));
  } else if (type === "thinking") {
    if (typeof block.thinking === "string") slots.push(thought(block, role, changed));
    visitOthers(block, IN_THOUGHT, found.other(role));
  } else if (CALLS.has(type)) {
    slots.push(
      new Place(role, "arguments", isObject(block.input) ? found.written(block.input) : JSON.stringify(block.input ?? {}), (text) => {
        block.input = JSON.parse(text) as JsonValue;
        changed();
      }),
    );
    visitOthers(block, IN_CALL, found.other(role));
  } else {
    proseSlots(block, typeof type === "string" && type.endsWith("tool_result") ? "tool" : role, found, title);
  }
}

/** Thinking is signed: with changed words it can only be sent as plain text. */
function thought(block: JsonObject, role: Role, changed: () => void): TextSlot {
  return new Place(role, "text", block.thinking as string, (text) => {
    delete block.thinking;
    delete block.signature;
    block.type = "text";
    block.text = text;
    changed();
  });
}

function proseSlots(holder: JsonObject, role: Role, found: Found, title: string | null): void {
  const { slots, changed } = found;
  for (const name in holder) {
    const value = holder[name] as JsonValue;
    if (name === "cache_control") visitOther(holder, name, name, found.other(role));
    else if (typeof value === "string") {
      if (name === "data" && holder.type === "base64" && isReadAsText(mediaTypeOf(holder), title, value))
        slots.push(...base64Slots(holder, name, role, changed));
      if (name === "url" && holder.type === "url") slots.push(...addressSlots(holder, name, title, role, changed));
      if (isProse(holder, name)) slots.push(textMember(holder, name, role, changed));
      else if (!isNoText(name, value)) visitOther(holder, name, name, found.other(role));
    } else if (Array.isArray(value)) {
      for (const [at, inner] of value.entries()) {
        if (isObject(inner)) blockSlots(inner, role, found);
        else if (typeof inner === "string" && PROSE.has(name)) slots.push(textMember(value, at, role, changed));
        else visitOther(value, at, name, found.other(role));
      }
    } else if (isObject(value)) {
      blockSlots(value, role, found, typeof holder.title === "string" ? holder.title : null);
    }
  }
}

function mediaTypeOf(holder: JsonObject): string {
  return typeof holder.media_type === "string" ? holder.media_type : "";
}
