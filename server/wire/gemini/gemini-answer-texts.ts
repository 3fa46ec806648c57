import { type AnswerTexts, type CitedPassage, ContentsList } from "../texts/answer-texts.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { visitEvery } from "../openai/text-places.ts";
import { spellingIn } from "./member-names.ts";
import { member, numberIn, objectIn, objectsIn, textIn } from "./members.ts";

const SOURCES = ["groundingMetadata", "citationMetadata"] as const;

/** Texts of a complete answer or a piece of one, which have the same form. */
export const geminiAnswerTexts: AnswerTexts = {
  counter: null,
  contents(body, whole) {
    const contents = new ContentsList();
    let at = 0;
    for (const candidate of objectsIn(body, "candidates")) {
      const named = member(candidate, "index");
      const index = typeof named === "number" ? named : at;
      at++;
      const content = objectIn(candidate, "content");
      let call = 0;
      const parts = content === null ? [] : objectsIn(content, "parts");
      for (const part of parts) {
        partContents(part, index, `${index}.calls.${call++}`, contents);
        if (!whole) contents.delta(part, index);
      }
      // A call is always sent whole.
      contents.ends.push(`${index}.calls`);
      contents.token(candidate, spellingIn(candidate, "logprobsResult"), undefined);
      sourceContents(candidate, contents, (partIndex) => ({
        channel: `${index}.text`,
        places: partIndex === 0 ? null : placesOf(parts[partIndex]),
      }));
      if (!whole && textIn(candidate, "finishReason") !== null) contents.finish(`${index}.`);
    }
    if (whole) contents.ends.push("");
    return contents;
  },
  continuation(body) {
    for (const candidate of objectsIn(body, "candidates")) {
      for (const name of SOURCES) delete candidate[spellingIn(candidate, name)];
      const content = objectIn(candidate, "content");
      if (content === null) continue;
      const key = spellingIn(content, "parts");
      const parts = objectsIn(content, "parts");
      for (const part of parts) {
        delete part[spellingIn(part, "thoughtSignature")];
        for (const name of Object.keys(part)) if (typeof part[name] === "object") delete part[name];
      }
      content[key] = parts.filter((part) => Object.values(part).some((value) => typeof value === "string"));
    }
  },
};

function partContents(part: JsonObject, index: number, channel: string, contents: ContentsList): void {
  const text = spellingIn(part, "text");
  contents.piece(`${index}.${member(part, "thought") === true ? "thought" : "text"}`, part, text);
  for (const name of ["functionCall", "toolCall"]) {
    const call = objectIn(part, name);
    if (call === null) continue;
    const scattered = member(call, "partialArgs") !== undefined || member(call, "willContinue") === true;
    const key = spellingIn(call, "args");
    contents.calls.push({
      channel,
      group: `${index}.calls`,
      name: textIn(call, "name"),
      place: call[key] === undefined ? null : { holder: call, key },
      form: "object",
      scattered,
    });
    for (const piece of objectsIn(call, "partialArgs")) contents.whole(piece, spellingIn(piece, "stringValue"));
  }
  const code = objectIn(part, "executableCode");
  if (code !== null) contents.whole(code, spellingIn(code, "code"));
  const result = objectIn(part, "codeExecutionResult");
  if (result !== null) contents.whole(result, spellingIn(result, "output"));
  const answered = objectIn(part, "toolResponse");
  if (answered !== null)
    visitEvery("tool", answered, spellingIn(answered, "response"), "candidates", (_role, _kind, holder, key) =>
      contents.whole(holder, key),
    );
}

/** Sources and citations repeat the answer's text next to that of the sources. */
function sourceContents(candidate: JsonObject, contents: ContentsList, textOf: (partIndex: number) => SegmentedText): void {
  const [grounding, citations] = SOURCES.map((name) => objectIn(candidate, name));
  if (grounding != null) {
    for (const name of ["webSearchQueries", "imageSearchQueries", "retrievalQueries"]) {
      const queries = member(grounding, name);
      if (Array.isArray(queries)) for (const at of queries.keys()) contents.whole(queries, at);
      else contents.whole(grounding, spellingIn(grounding, name));
    }
    for (const support of objectsIn(grounding, "groundingSupports")) segmentIn(objectIn(support, "segment"), contents, textOf);
    for (const chunk of objectsIn(grounding, "groundingChunks")) chunkContents(chunk, contents);
    const entry = objectIn(grounding, "searchEntryPoint");
    if (entry !== null) contents.whole(entry, spellingIn(entry, "renderedContent"));
  }
  if (citations != null)
    for (const name of ["citationSources", "citations"])
      for (const source of objectsIn(citations, name)) segmentIn(source, contents, textOf);
}

/** The text in which segments count. */
type SegmentedText = Pick<CitedPassage, "channel" | "places">;

function placesOf(part: JsonObject | undefined): SegmentedText["places"] {
  return part === undefined ? null : [{ holder: part as Record<string, unknown>, key: spellingIn(part, "text") }];
}

function segmentIn(segment: JsonObject | null, contents: ContentsList, textOf: (partIndex: number) => SegmentedText): void {
  if (segment === null) return;
  wordsIn(segment, contents);
  const [start, end] = [spellingIn(segment, "startIndex"), spellingIn(segment, "endIndex")];
  if (typeof segment[end] !== "number") return;
  const text = textOf(numberIn(segment, "partIndex") ?? 0);
  contents.cited({ holder: segment as Record<string, unknown>, start, end, unit: "bytes", repeats: "text", ...text });
}

function chunkContents(chunk: JsonObject, contents: ContentsList): void {
  for (const name of ["web", "retrievedContext", "maps", "image"]) wordsIn(objectIn(chunk, name), contents);
  const retrieved = objectIn(chunk, "retrievedContext");
  if (retrieved !== null) wordsIn(objectIn(retrieved, "ragChunk"), contents);
  const place = objectIn(chunk, "maps");
  const sources = place === null ? null : objectIn(place, "placeAnswerSources");
  if (sources !== null)
    for (const name of ["reviewSnippets", "reviewSnippet"])
      for (const snippet of objectsIn(sources, name)) for (const word of ["title", "review"]) contents.whole(snippet, word);
}

function wordsIn(holder: JsonObject | null, contents: ContentsList): void {
  if (holder !== null) for (const name of ["text", "title"]) contents.whole(holder, name);
}
