import { expect, test } from "bun:test";
import type { MediaFile } from "../../kernel/files/media-file.ts";
import type { OutboundBytes } from "../../kernel/http/outbound-bytes.ts";
import type { Call } from "../../road/call.ts";
import { InboundView } from "../../road/view.ts";
import { JsonDocument } from "../../wire/json/document.ts";
import { readImageEditRequest } from "../../wire/images/read-image-edit.ts";
import type { InboundRequest } from "../../wire/inbound.ts";
import { sentFile } from "../../wire/http/sent-file.ts";
import { readTranscriptionRequest } from "../../wire/transcriptions/read-transcription.ts";
import { readVideosRequest } from "../../wire/videos/videos-request.ts";
import type { EngineParts } from "./engines.ts";
import { GuardRun } from "./guard-run.ts";
import { guardInput } from "./input.ts";
import { guardOfEntries, type SurfaceGuard } from "./surface-guard.ts";

/** Guardrails on the parts of a form other than its prompt: names of files and fields, and fields that usually have no text. */
const PARTS: EngineParts = { engines: {}, askModel: () => Promise.reject(new Error("no model is asked here")) };
const BYTES = new TextEncoder().encode("bytes");
const MAIL = "joe@example.com";

const fileOf = (name: string, mimeType: string): MediaFile => ({
  ...{ name, mimeType, bytes: BYTES.byteLength, hash: "", seconds: 1 },
  open: () => new Blob([BYTES]).stream(),
});

type FormRequest = InboundRequest & { form(changes: { readonly model: string }): OutboundBytes };
const must = <T extends FormRequest>(read: T | { readonly fields: readonly object[] }): T => {
  if ("fields" in read) throw new Error(JSON.stringify(read.fields));
  return read;
};
const SOUND = fileOf("memo.wav", "audio/wav");
const transcription = (fields: object, lists: Record<string, readonly string[]> = {}, file = SOUND) =>
  must(
    readTranscriptionRequest("transcriptions", new Map(Object.entries({ model: "m", ...fields })), new Map(Object.entries(lists)), file, 9),
  );
const edit = (names: readonly string[]) =>
  must(
    readImageEditRequest(
      new Map(Object.entries({ model: "m", prompt: "A hat" })),
      names.map((name) => sentFile("image[]", fileOf(name, "image/png"))),
      9,
    ),
  );
const video = (name: string) =>
  must(
    readVideosRequest(
      JsonDocument.read(new TextEncoder().encode(JSON.stringify({ model: "m", prompt: "A boat" }))) as JsonDocument,
      fileOf(name, "image/png"),
      9,
    ),
  );

async function guarded(request: FormRequest) {
  const entry = {
    ...{ id: "c1", name: "mail", version: "1", groupIds: null, surfaces: new Set(["chat_input" as const]), engines: [] },
    builtin: { pii_enabled: true, pii_action: "redact" as const, banned_words: ["project titan"] },
  };
  const run = new GuardRun(guardOfEntries([entry], "chat_input") as SurfaceGuard);
  const { kind } = await guardInput({ row: {}, requestContent: "x" } as unknown as Call, new InboundView(request, ["m"]), run, PARTS);
  const { open, contentType } = request.form({ model: "m" });
  const form = await new Response(open(), { headers: { "content-type": contentType } }).formData();
  return { kind, form, names: [...form.values()].flatMap((value: string | File) => (typeof value === "string" ? [] : [value.name])) };
}

test("a file's name is inspected, and a redacted name keeps its extension, by which vendors recognise the type", async () => {
  const named = { "a picture": edit, "a reference": ([name = ""]: readonly string[]) => video(name) };
  for (const [what, read] of Object.entries(named)) {
    expect([what, (await guarded(read([`${MAIL}.png`]))).names]).toEqual([what, ["[REDACTED:email].png"]]);
    expect([what, (await guarded(read(["Project_Titan.png"]))).kind]).toEqual([what, "refuse"]);
    expect([what, (await guarded(read(["Our holidays.png"]))).names]).toEqual([what, ["Our holidays.png"]]);
  }
  expect((await guarded(edit(["one.png", `by ${MAIL} two.png`]))).names).toEqual(["one.png", "by_[REDACTED:email]_two.png"]);
  const guardedFile = (name: string) => guarded(transcription({}, {}, fileOf(name, "audio/wav")));
  expect((await guardedFile(`${MAIL} 415-555-2671.wav`)).names).toEqual(["[REDACTED:email]_[REDACTED:phone].wav"]);
  expect((await guardedFile(`415-555-2671 ${MAIL}.wav`)).names).toEqual(["[REDACTED:phone]_[REDACTED:email].wav"]);
  expect((await guardedFile(`${MAIL}.wav`)).names).toEqual(["[REDACTED:email].wav"]);
  expect((await guardedFile("projectTitan.wav")).kind).toBe("refuse");
});

test("form fields with other values than languages, numbers or enum values, and field names, are inspected as text", async () => {
  for (const name of ["language", "temperature", "chunking_strategy", "chunking_strategy[type]"]) {
    const { form } = await guarded(transcription({ [name]: MAIL }));
    expect([name, form.get(name)]).toEqual([name, "[REDACTED:email]"]);
  }
  for (const name of ["languages[]", "include[]", "timestamp_granularities[]", "known_speaker_references[]"]) {
    const { form } = await guarded(transcription({}, { [name]: ["en", MAIL] }));
    expect([name, form.getAll(name)]).toEqual([name, ["en", "[REDACTED:email]"]]);
  }
  expect((await guarded(transcription({ "about project titan": "x" }))).kind).toBe("refuse");
});

test("usual values of such fields are not inspected as text", () => {
  const request = transcription(
    {
      language: "zh-Hant-TW",
      temperature: "0.2",
      "chunking_strategy[type]": "server_vad",
      "chunking_strategy[silence_duration_ms]": "500",
    },
    {
      "languages[]": ["en", "es-419"],
      "include[]": ["logprobs"],
      "timestamp_granularities[]": ["word", "segment"],
      "known_speaker_references[]": ["data:audio/wav;base64,UklGRg=="],
    },
  );
  expect(request.texts()).toEqual([]);
});
