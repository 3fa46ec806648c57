import { expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { openStatement, signedStatement } from "./dsse.ts";
import { printExportLine } from "./export.ts";
import { testChain } from "./test-chain.ts";
import { verifyExport } from "./verify-export.ts";

const made = testChain([{ http_status_code: 500 }, { http_status_code: 200 }]);
const lines = [
  { type: "chain" as const, writer: "w", exported_at: "2026-11-21T10:00:01.000000Z", ...made.chain },
  ...made.keys.map(({ keyId, name, publicKey, validFrom, validTo }) => ({
    type: "key" as const,
    name,
    key_id: keyId,
    public_key: publicKey,
    valid_from: validFrom,
    valid_to: validTo,
  })),
  ...made.entries,
].map((line) => printExportLine(line));
const first = lines.findIndex((line) => line.startsWith('{"type":"row"'));

const verdictOf = async (edit: (line: string) => string) =>
  (await verifyExport(lines.map((line, at) => (at === first ? edit(line) : line)))).verdict;

test("an export line with a duplicate member is rejected, because parsers differ in which one they take", async () => {
  expect(await verdictOf((line) => line)).toBe("intact");
  const rejection = (name: string) => `line ${first + 1}: it names "${name}" twice`;
  const status = (line: string) => line.replace('"row":{', '"row":{"http_status_code":200,');
  expect(verdictOf(status)).rejects.toThrow(rejection("http_status_code"));
  expect(verdictOf((line) => status(line).replace("http_status", "http\\u005fstatus"))).rejects.toThrow(rejection("http_status_code"));
  expect(verdictOf((line) => line.replace('"row":', '"row":{"id":"another"},"row":'))).rejects.toThrow(rejection("row"));
  expect(verdictOf((line) => line.replace("{", '{"type":"note",'))).rejects.toThrow(rejection("type"));
});

test("other spacing, member order, and braces or quotes within strings do not count as duplicate members", async () => {
  expect(await verdictOf((line) => line.replace('"row":{', ' "row" : { "step_name":"\\"id\\": {[", "step_id":"step_name",'))).toBe(
    "intact",
  );
  expect(await verdictOf((line) => line.replace('"row":{', '"row":{"custom_metadata":{"id":1},"tags":["id","id"],'))).toBe("intact");
});

test("a signed statement with a duplicate payload member is invalid, whatever the second payload is", () => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const pem = privateKey.export({ format: "pem", type: "pkcs8" }) as string;
  const signed = signedStatement("k", "https://example.com/p", { s: "00" }, { score: 1 }, pem);
  const open = (text: string) =>
    openStatement(text, "k", "https://example.com/p", "p", [publicKey.export({ format: "der", type: "spki" }).subarray(-32)]);
  expect(open(signed)).toMatchObject({ statement: { predicate: { score: 1 } } });
  expect(open(`${JSON.stringify(JSON.parse(signed), null, 2)}\n`)).toMatchObject({ statement: { predicate: { score: 1 } } });
  expect(open(signed.replace("{", '{"payload":"e30=",'))).toEqual({ reason: 'it names "payload" twice' });
});
