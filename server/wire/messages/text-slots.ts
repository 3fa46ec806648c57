import { isObject, type JsonObject, type JsonValue } from "../document.ts";
import type { TextSlot } from "../inbound.ts";
import { addressSlots, base64Slot } from "../text-documents.ts";
import { isTextFile } from "../text-file.ts";
import { visitToolTexts } from "../tool-texts.ts";
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
/** Blocks that bring tools along, whose descriptions are nobody's own instruction. */
const BRINGING_TOOLS: ReadonlySet<unknown> = new Set(["tool_addition", "mcp_tool_listing"]);
/** Nothing in these can be read, or it is sealed. */
const WORDLESS: ReadonlySet<unknown> = new Set(["redacted_thinking", "container_upload"]);

/**
 * Every text of a Messages body that the model would read, in order. `touch` is told the top-level member a replacement
 * stands in.
 */
export function textSlots(body: JsonObject, touch: (member: string) => void): TextSlot[] {
  const slots: TextSlot[] = [];
  const walk = (holder: JsonObject, name: string, role: Role, member: string) => {
    const value = holder[name];
    const changed = () => touch(member);
    const from = slots.length;
    if (typeof value === "string") slots.push(textMember(holder, name, role, changed));
    else if (Array.isArray(value)) for (const block of value) if (isObject(block)) blockSlots(block, role, changed, slots);
    for (let at = from; at < slots.length; at++) slots[at] = ownedBy(holder, slots[at] as TextSlot);
  };
  visitToolTexts(body.tools, (holder) =>
    slots.push(textMember(holder as JsonObject, "description", "tool_definition", () => touch("tools"))),
  );
  walk(body, "system", "system", "system");
  for (const { holder, member } of summaryInstructions(body)) slots.push(textMember(holder, "instructions", "user", () => touch(member)));
  if (Array.isArray(body.messages)) {
    for (const message of body.messages) {
      if (!isObject(message)) continue;
      walk(message, "content", message.role === "assistant" || message.role === "system" ? message.role : "user", "messages");
    }
  }
  return slots;
}

function ownedBy(owner: object, slot: TextSlot): TextSlot {
  if (!(slot instanceof Place)) return { ...slot, owner };
  slot.owner = owner;
  return slot;
}

/** What a caller says of how a conversation that grew long is summed up. */
function summaryInstructions(body: JsonObject): { readonly holder: JsonObject; readonly member: string }[] {
  const edits = isObject(body.context_management) && Array.isArray(body.context_management.edits) ? body.context_management.edits : [];
  const told = [{ holder: body.compaction, member: "compaction" }, ...edits.map((holder) => ({ holder, member: "context_management" }))];
  return told.flatMap(({ holder, member }) => (isObject(holder) && typeof holder.instructions === "string" ? [{ holder, member }] : []));
}

function textMember(holder: JsonObject | JsonValue[], name: string | number, role: Role, changed: () => void): TextSlot {
  const places = holder as Record<string | number, JsonValue>;
  return new Place(role, "text", places[name] as string, (text) => {
    places[name] = text;
    changed();
  });
}

/** `title`: what the block around it is called. */
function blockSlots(block: JsonObject, role: Role, changed: () => void, slots: TextSlot[], title: string | null = null): void {
  const { type } = block;
  if (WORDLESS.has(type)) return;
  if (BRINGING_TOOLS.has(type))
    return visitToolTexts(block, (holder) => slots.push(textMember(holder as JsonObject, "description", "tool_definition", changed)));
  if (type === "thinking") {
    if (typeof block.thinking === "string") slots.push(thought(block, role, changed));
  } else if (CALLS.has(type)) {
    slots.push(
      new Place(role, "arguments", JSON.stringify(block.input ?? {}), (text) => {
        block.input = JSON.parse(text) as JsonValue;
        changed();
      }),
    );
  } else {
    proseSlots(block, typeof type === "string" && type.endsWith("tool_result") ? "tool" : role, changed, slots, title);
  }
}

/** A thought is signed over its words: with other words it can only stand as a plain text. */
function thought(block: JsonObject, role: Role, changed: () => void): TextSlot {
  return new Place(role, "text", block.thinking as string, (text) => {
    delete block.thinking;
    delete block.signature;
    block.type = "text";
    block.text = text;
    changed();
  });
}

function proseSlots(holder: JsonObject, role: Role, changed: () => void, slots: TextSlot[], title: string | null): void {
  const mediaType = typeof holder.media_type === "string" ? holder.media_type : "";
  for (const [name, value] of Object.entries(holder)) {
    if (name === "cache_control") continue;
    if (typeof value === "string") {
      if (name === "data" && holder.type === "base64" && isTextFile(mediaType, title)) slots.push(base64Slot(holder, name, role, changed));
      if (name === "url" && holder.type === "url") slots.push(...addressSlots(holder, name, title, role, changed));
      if (isProse(holder, name)) slots.push(textMember(holder, name, role, changed));
    } else if (Array.isArray(value)) {
      for (const [at, inner] of value.entries()) {
        if (isObject(inner)) blockSlots(inner, role, changed, slots);
        else if (typeof inner === "string" && PROSE.has(name)) slots.push(textMember(value, at, role, changed));
      }
    } else if (isObject(value)) {
      blockSlots(value, role, changed, slots, typeof holder.title === "string" ? holder.title : null);
    }
  }
}
