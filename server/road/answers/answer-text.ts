import type { AnswerTexts } from "../../wire/texts/answer-texts.ts";
import type { ConversationEvent, ConversationReply } from "../../wire/conversation/reply.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { exactArguments, type JsonSource, wholeSource } from "../../wire/json/exact-tools.ts";
import { replyObject } from "../../wire/openai/reply-object.ts";
import { outputFormOf } from "../output/answer-formats.ts";
import type { OutputForm } from "../../wire/output-form.ts";
import { framingOf } from "../output/frames.ts";
import { BufferedToolCall } from "../output/buffered-tool-calls.ts";
import type { Conversation } from "../request/conversation.ts";
import { readPieces, readWhole } from "./caller-answer.ts";

/** All text of a whole answer, including arguments of tool calls; null if it cannot be read. */
export function textOfWholeAnswer(conversation: Conversation, bytes: Uint8Array): string | null {
  const reply = readWhole(conversation, bytes);
  const body = replyObject(bytes);
  if (reply === null || body === null) return null;
  const words = new AnswerWords(outputFormOf(conversation).texts);
  words.add(body, wholeSource(body, bytes), true);
  return joined(partsOfReply(reply), words);
}

/** All text of a streamed answer, complete or not, including arguments of tool calls. */
export function textOfStreamedAnswer(conversation: Conversation, pieces: readonly Uint8Array[]): string {
  return joined(partsOfEvents(readPieces(conversation, pieces).events), wordsOfPieces(outputFormOf(conversation), pieces));
}

/** All text of a whole answer that is not a conversation, such as a transcript; null if it cannot be read. */
export function wordsOfWholeAnswer({ texts }: OutputForm, bytes: Uint8Array): string | null {
  const body = replyObject(bytes);
  if (body === null) return null;
  const words = new AnswerWords(texts);
  words.add(body, wholeSource(body, bytes), true);
  return joined([], words);
}

/** All text of a streamed answer that is not a conversation. */
export function wordsOfStreamedAnswer(form: OutputForm, pieces: readonly Uint8Array[]): string {
  return joined([], wordsOfPieces(form, pieces));
}

function wordsOfPieces({ texts, framing }: OutputForm, pieces: readonly Uint8Array[]): AnswerWords {
  const words = new AnswerWords(texts);
  const frames = framingOf(framing);
  for (const piece of pieces) for (const frame of frames.push(piece)) if (frame.body !== null) words.add(frame.body, frame, false);
  const last = frames.rest();
  if (last !== null && last.body !== null) words.add(last.body, last, false);
  return words;
}

interface AnswerPart {
  /** Parts with the same flow are one text in formats that do not separate parts; null for a tool call. */
  readonly flow: string | null;
  readonly text: string;
}

function partsOfReply(reply: ConversationReply): readonly AnswerPart[] {
  return reply.candidates.flatMap(({ index, parts }) =>
    parts.flatMap((part): AnswerPart[] => {
      if (part.kind === "picture") return [];
      if (part.kind === "tool_call") return [{ flow: null, text: `${part.name} ${part.arguments}` }];
      return [{ flow: `${index} ${part.kind}`, text: part.text }];
    }),
  );
}

function partsOfEvents(events: readonly ConversationEvent[]): readonly AnswerPart[] {
  const parts = new Map<string, AnswerPart>();
  for (const event of events) {
    if (event.kind !== "part_start" && event.kind !== "delta") continue;
    const name = `${event.candidate} ${event.part}`;
    const { flow, text } = parts.get(name) ?? { flow: null, text: "" };
    if (event.kind === "delta") parts.set(name, { flow, text: text + event.text });
    else if (event.type === "tool_call") parts.set(name, { flow, text: `${text}${event.name} ` });
    else parts.set(name, { flow: `${event.candidate} ${event.type}`, text });
  }
  return [...parts.values()];
}

/** Text read from the answer's own format, which may hold more than the vendor-neutral form, such as output of hosted tools. */
class AnswerWords {
  private readonly texts: AnswerTexts;
  private readonly channels = new Map<string, string>();
  private readonly calls = new Map<string, BufferedToolCall>();
  private readonly wholes = new Set<string>();

  constructor(texts: AnswerTexts) {
    this.texts = texts;
  }

  add(body: JsonObject, source: JsonSource, whole: boolean): void {
    const written = exactArguments(source);
    const { pieces, wholes, calls } = this.texts.contents(body, whole);
    for (const { channel, holder, key } of pieces) this.channels.set(channel, (this.channels.get(channel) ?? "") + String(holder[key]));
    for (const { holder, key } of wholes) this.wholes.add(String(holder[key]));
    for (const piece of calls) {
      const call = this.calls.get(piece.channel) ?? new BufferedToolCall();
      this.calls.set(piece.channel, call);
      call.add(piece, written);
    }
  }

  get words(): readonly string[] {
    return [
      ...this.channels.values(),
      ...[...this.calls.values()].map(({ name, arguments: given }) => `${name ?? ""} ${given}`),
      ...this.wholes,
    ];
  }
}

/** The parts, followed by texts they do not contain. Each text is compared once, since an answer may hold very many. */
function joined(parts: readonly AnswerPart[], { words }: AnswerWords): string {
  const flows = new Map<string, string>();
  for (const { flow, text } of parts) if (flow !== null) flows.set(flow, (flows.get(flow) ?? "") + text);
  const texts = parts.map(({ text }) => text);
  const known = new Set(["", ...texts.map(withoutSpace), ...[...flows.values()].map(withoutSpace)]);
  for (const word of words) {
    const bare = withoutSpace(word);
    if (known.has(bare)) continue;
    known.add(bare);
    texts.push(word);
  }
  return texts.filter((part) => part !== "").join("\n\n");
}

/** Ignores whitespace, because formats differ in where parts begin and how JSON is written. */
function withoutSpace(text: string): string {
  return text.replaceAll(/\s+/g, "");
}
