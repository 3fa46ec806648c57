import { expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { readPublicKey, readPublicKeys } from "./signed-note.ts";

const pem = () => generateKeyPairSync("ed25519").publicKey.export({ format: "pem", type: "spki" }) as string;

test("a file of several keys yields each of them, in PEM or base64", () => {
  const files = [pem(), pem(), pem()];
  const keys = files.map(readPublicKey);
  expect(readPublicKeys(files.join("\n"))).toEqual(keys);
  expect(readPublicKeys(`${keys.map((key) => Buffer.from(key).toString("base64")).join("\n")}\n`)).toEqual(keys);
});

test("a text that is not a key is rejected, wherever it is in the file", () => {
  for (const text of ["", "nothing", `${pem()}-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n`, "-----BEGIN PUBLIC KEY-----"])
    expect(() => readPublicKeys(text)).toThrow();
});
