import { expect, test } from "bun:test";
import { readForm } from "./read-form.ts";
import { ONE_FILE } from "./upload-form.ts";

const TYPE = "multipart/form-data; boundary=x";
const PART = "--x\r\n\r\n\r\n";
const field = (name: string) => `--x\r\ncontent-disposition: form-data; name="${name}"\r\n\r\nsaid\r\n`;
const FILE = '--x\r\ncontent-disposition: form-data; name="file"; filename="f"\r\n\r\nbytes\r\n';

const formOf = (body: ReadableStream<Uint8Array>) =>
  readForm(
    body,
    TYPE,
    ONE_FILE,
    async ({ bytes }) => {
      let size = 0;
      for await (const piece of bytes) size += piece.byteLength;
      return { size };
    },
    async () => undefined,
  );

test("a form of many empty parts is refused before its end", async () => {
  let given = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        given++;
        if (given > 1_000) controller.close();
        else controller.enqueue(new TextEncoder().encode(PART.repeat(100)));
      },
    },
    { highWaterMark: 0 },
  );
  expect(await formOf(body)).toMatchObject({ code: "invalid_body", fields: [{ field: "", message: "has more than 23 parts" }] });
  expect(given).toBeLessThan(10);
});

test("a form with the maximum number of fields is read; one more is refused with the limit", async () => {
  const names = Array.from({ length: ONE_FILE.fields }, (_, at) => `f${at}`);
  const form = (fields: readonly string[]) => new Blob([...fields.map(field), FILE, "--x--\r\n"]).stream();
  expect(await formOf(form(names))).toMatchObject({ files: [{ size: 5 }] });
  expect(await formOf(form([...names, "more"]))).toMatchObject({ fields: [{ message: "has more than 12 fields" }] });
});

test.each([
  ["before the first part", "", "a line of it\r\n"],
  ["after the last part", `${FILE}--x--\r\n`, "a line of it\r\n"],
])("data %s of a form is read only up to a limit", async (_, first, more) => {
  let given = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => controller.enqueue(new TextEncoder().encode(first)),
      pull(controller) {
        given++;
        if (given > 1_000) controller.close();
        else controller.enqueue(new TextEncoder().encode(more.repeat(5_000)));
      },
    },
    { highWaterMark: 0 },
  );
  expect(await formOf(body)).toMatchObject({ code: "body_too_large", headers: { connection: "close" } });
  expect(given).toBeLessThan(30);
});

test("a file of any size does not count towards the limit on the rest of the form", async () => {
  const form = new Blob([FILE.replace("bytes", "b".repeat(5_000_000)), "--x--\r\n"]).stream();
  expect(await formOf(form)).toMatchObject({ files: [{ size: 5_000_000 }] });
});
