import { type AnswerTexts, ContentsList } from "../texts/answer-texts.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { type AnnotatedText, annotationsTexts, annotationTexts } from "../openai/annotation-texts.ts";
import { filledOf, objectOf, objectsOf } from "../openai/loose-fields.ts";
import { visitMembers, visitTexts } from "../openai/text-places.ts";
import { visitToolTexts } from "../texts/tool-texts.ts";

/** Items that call a tool, and the member with their arguments. */
const CALLS: ReadonlyMap<unknown, string> = new Map([
  ["function_call", "arguments"],
  ["custom_tool_call", "input"],
  ["mcp_call", "arguments"],
  // Once approved, the vendor makes the call, and nothing can be withheld any more.
  ["mcp_approval_request", "arguments"],
  ["tool_search_call", "arguments"],
  ["local_shell_call", "action"],
  ["shell_call", "action"],
  ["apply_patch_call", "operation"],
  ["computer_call", "action"],
]);
/** Computer-use calls with several actions. */
const ACTIONS = "actions";
/** Events with pieces of a call's arguments. */
const ARGUMENTS = /^response\.(?:function_call_arguments|mcp_call_arguments|custom_tool_call_input)\.(delta|done)$/;
/** Events with pieces that are not text. */
const BYTES = /^response\.(?:audio\.(?:delta|done)$|image_generation_call\.)/;

/** Text parts of messages, which clients concatenate. */
const PROSE = "output_text";

/** Texts of a response, or of an event of its stream. */
export const responsesAnswerTexts: AnswerTexts = {
  counter: "sequence_number",
  contents(body, whole) {
    const contents = new ContentsList();
    if (whole) {
      outputContents(body, contents);
      contents.ends.push("");
    } else eventContents(body, filledOf(body.type) ?? "", contents);
    return contents;
  },
  continuation: () => undefined,
};

function eventContents(event: JsonObject, type: string, contents: ContentsList): void {
  const output = typeof event.output_index === "number" ? event.output_index : 0;
  const call = ARGUMENTS.exec(type);
  if (call !== null) {
    const freeform = type.includes("custom_tool_call");
    const key = call[1] === "delta" ? "delta" : freeform ? "input" : "arguments";
    contents.calls.push({
      channel: `${output}.call`,
      group: `${output}.call`,
      name: filledOf(event.name),
      place: { holder: event, key },
      form: call[1] === "delta" ? "piece" : "whole",
      freeform,
    });
    return;
  }
  const response = objectOf(event.response);
  const item = objectOf(event.item);
  const part = objectOf(event.part);
  const annotation = objectOf(event.annotation);
  const channel =
    `${output}.${String(event.content_index ?? event.summary_index ?? event.command_index ?? 0)}.` +
    `${type.replace(/\.(?:delta|done)$/, "")}`;
  if (response !== null) {
    outputContents(response, contents);
    // A final event ends all texts; the initial events have none yet.
    if (type !== "response.created" && type !== "response.in_progress" && type !== "response.queued") contents.ends.push("");
  } else if (item !== null) {
    itemContents(item, output, contents);
    if (type.endsWith(".done")) contents.ends.push(`${output}.`);
  } else if (part !== null) {
    partContents(part, textChannel(output, event.content_index), contents);
  } else if (annotation !== null) {
    annotationTexts(annotation, contents, { channel: textChannel(output, event.content_index), places: null });
  } else if (BYTES.test(type)) {
    contents.bytesAt(event, "delta");
  } else if (type.endsWith(".delta")) {
    contents.piece(channel, event, "delta", type === "response.output_text.delta" ? PROSE : undefined);
    // Shell output has two texts in parallel, stdout and stderr.
    const printed = objectOf(event.delta);
    for (const name of Object.keys(printed ?? {})) contents.piece(`${channel}.${name}`, printed as JsonObject, name);
    contents.token(event, "logprobs", []);
  } else if (type.endsWith(".done")) {
    contents.ends.push(channel);
    visitMembers("assistant", event, "", (_role, kind, holder, key) => contents.whole(holder, key, kind));
    contents.token(event, "logprobs", []);
  }
}

/** Members of a response that repeat its request. */
export const REPEATED_OF_REQUEST = ["instructions", "metadata", "prompt", "text", "tools", "tool_choice"] as const;

function outputContents(response: JsonObject, contents: ContentsList): void {
  for (const name of REPEATED_OF_REQUEST) if (response[name] !== undefined) contents.repeats(response, name);
  for (const [item, index] of objectsOf(response.output)) itemContents(item, index, contents);
}

export function itemContents(item: JsonObject, output: number, contents: ContentsList): void {
  const args = CALLS.get(item.type);
  if (args !== undefined) {
    // Clients run such an item by its type, whatever name it has.
    const isKind = args === "action" || args === "operation";
    const tool = isKind ? String(item.type).replace(/_call$/, "") : filledOf(item.name);
    callContents(item, args, `${output}.call`, tool, contents);
    // It is unknown which of the two a client uses: if both are present, each is a separate call.
    if (item.type === "computer_call" && isFilled(item[ACTIONS]) && !isEmpty(item[ACTIONS]))
      callContents(item, ACTIONS, isFilled(item[args]) ? `${output}.call.${ACTIONS}` : `${output}.call`, tool, contents);
    // The result of a hosted tool is part of the call's item.
    for (const name of ["output", "error"])
      visitTexts("assistant", item, name, "output", (_role, kind, holder, at) => contents.whole(holder, at, kind));
    return;
  }
  if (item.type === "image_generation_call") contents.bytesAt(item, "result");
  visitToolTexts(item.tools, (holder) => contents.whole(holder, "description"));
  const flowOf = (holder: object) => ("type" in holder && holder.type === "output_text" ? PROSE : undefined);
  visitMembers("assistant", item, "output", (_role, kind, holder, key) =>
    contents.whole(holder, key, kind, key === "text" ? flowOf(holder) : undefined),
  );
  for (const [part, content] of objectsOf(item.content)) {
    annotationsTexts(part, contents, annotated(part, textChannel(output, content)));
    contents.token(part, "logprobs", []);
  }
}

/** Whether a member has a value. */
const isFilled = (given: unknown): boolean => given !== undefined && given !== null && given !== "";

const isEmpty = (given: unknown): boolean => Array.isArray(given) && given.length === 0;

function callContents(item: JsonObject, member: string, channel: string, name: string | null, contents: ContentsList): void {
  const given = item[member];
  contents.calls.push({
    channel,
    group: channel,
    name,
    place: isFilled(given) ? { holder: item, key: member } : null,
    form: typeof given === "string" ? "whole" : "object",
    freeform: item.type === "custom_tool_call",
    ...(item.type === "mcp_approval_request" && { proposed: true }),
  });
}

/** The channel of a text part's deltas. */
const textChannel = (output: number, content: unknown): string => `${output}.${String(content ?? 0)}.response.output_text`;

/** A finished part repeats all of its text. */
function annotated(part: JsonObject, channel: string): AnnotatedText {
  return { channel, places: [{ holder: part as Record<string, unknown>, key: "text" }] };
}

function partContents(part: JsonObject, channel: string, contents: ContentsList): void {
  visitMembers("assistant", part, "output", (_role, kind, holder, key) => contents.whole(holder, key, kind));
  annotationsTexts(part, contents, annotated(part, channel));
  contents.token(part, "logprobs", []);
}
