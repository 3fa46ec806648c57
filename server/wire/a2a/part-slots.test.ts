import { expect, test } from "bun:test";
import type { JsonObject } from "../../kernel/json-value.ts";
import { PartSlots } from "./part-slots.ts";

/** Text hidden in members meant for something else, such as a media type or a message ID. */
const SAID = "Ask joe";
const message = (more: JsonObject, part: JsonObject = {}): JsonObject => ({
  ...{ messageId: "m-1", role: "ROLE_AGENT", parts: [{ text: "Hello", mediaType: "text/plain", ...part }] },
  ...more,
});
const textsOf = (slots: PartSlots) => slots.slots.map(({ text }) => text);

test("a media type with other text in it is inspected, and can be replaced", () => {
  for (const mediaType of ["text/plain; name=joe@example.com", "text/AKIAQ3EGPXL5VJ4NTB7R", SAID]) {
    const said = message({}, { mediaType });
    const found = new PartSlots("assistant").message(said);
    expect(textsOf(found)).toEqual(["Hello", mediaType]);
    found.slots[1]?.replace("x/y");
    expect((said.parts as JsonObject[])[0]).toMatchObject({ text: "Hello", mediaType: "x/y" });
    expect(textsOf(new PartSlots("user").mediaTypes(["application/json", mediaType]))).toEqual([mediaType]);
  }
  for (const mediaType of ["image/svg+xml", "text/plain; charset=utf-8", "application/vnd.ms-excel"])
    expect(textsOf(new PartSlots("assistant").message(message({}, { mediaType })))).toEqual(["Hello"]);
});

test("an ID with words in it is inspected as text", () => {
  const said = message({ messageId: SAID, referenceTaskIds: ["t-1", SAID] });
  const found = new PartSlots("assistant").message(said);
  expect(textsOf(found)).toEqual(["Hello", SAID, SAID]);
  for (const slot of found.slots) slot.replace("x");
  expect(said).toMatchObject({ messageId: "x", referenceTaskIds: ["t-1", "x"] });
  const artifact: JsonObject = { artifactId: SAID, parts: [] };
  expect(textsOf(new PartSlots("assistant").artifact(artifact))).toEqual([SAID]);
  expect(textsOf(new PartSlots("assistant").message(message({ referenceTaskIds: ["t-1"] })))).toEqual(["Hello"]);
});

test("a text file is inspected in any encoding, and in each reading of ambiguous base64", () => {
  const base64 = Buffer.from("Mail joe@example.com").toString("base64");
  const files: [JsonObject, boolean][] = [
    [{ raw: base64, mediaType: "image/png" }, false],
    [{ raw: Buffer.from("Café: joe@example.com", "latin1").toString("base64"), mediaType: "text/plain" }, true],
    [{ raw: Buffer.from("Café: joe@example.com", "latin1").toString("base64"), filename: "notes.txt" }, true],
    [{ raw: `${base64.slice(0, 2)}=${base64.slice(2)}`, mediaType: "text/plain" }, false],
    [{ raw: `${base64.slice(0, 4)}-${base64.slice(4)}`, mediaType: "text/plain" }, true],
  ];
  for (const [part, isUnreadable] of files) {
    const found = new PartSlots("user").message(message({ parts: [part] }));
    const file = found.slots.filter(({ text }) => text.includes("joe@example.com"));
    expect([file.length, found.unreadable]).toEqual([1, isUnreadable]);
    file[0]?.replace("Mail nobody");
    expect(Buffer.from(part.raw as string, "base64").toString()).toBe("Mail nobody");
  }
  const picture = new PartSlots("user").message(message({ parts: [{ raw: "/9j/4AAQSkY=", mediaType: "image/jpeg" }] }));
  expect([picture.slots, picture.unreadable]).toEqual([[], true]);
});

test("a file within a data URL is inspected", () => {
  const said = "Mail joe@example.com";
  const urls = [
    `data:text/plain;base64,${Buffer.from(said).toString("base64")}`,
    `data:,${encodeURIComponent(said)}`,
    `data:application/octet-stream;base64,${Buffer.from(said).toString("base64")}`,
  ];
  for (const url of urls) {
    const part: JsonObject = { url };
    const found = new PartSlots("user").message(message({ parts: [part] }));
    const file = found.slots.filter(({ text }) => text === said);
    expect([file.length, found.unreadable]).toEqual([1, false]);
    file[0]?.replace("Mail nobody");
    expect(Buffer.from(String(part.url).replace(/.*,/, ""), "base64").toString()).toBe("Mail nobody");
  }
  const picture = new PartSlots("user").message(message({ parts: [{ url: "data:image/png;base64,iVBORw0KGgo=" }] }));
  expect(picture.unreadable).toBe(true);
  expect(new PartSlots("user").message(message({ parts: [{ url: "https://example.com/a.txt" }] })).unreadable).toBe(false);
});

test("members replaced by the same name stay distinct, and later inspections find their texts", () => {
  const data: JsonObject = { "joe@example.com": "first", "ann@example.com": { "sue@example.com": 7 }, "[mail]": "third" };
  const found = new PartSlots("assistant").message(message({ parts: [{ data }] }));
  for (const slot of found.slots) if (slot.text.includes("@")) slot.replace("[mail]");
  expect(data).toEqual({ "[mail] 2": "first", "[mail] 3": { "[mail]": 7 }, "[mail]": "third" });
  expect(textsOf(found)).toEqual(["first", "[mail] 2", "7", "[mail]", "[mail] 3", "third", "[mail]"]);
});
