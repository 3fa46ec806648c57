import { expect, test } from "bun:test";
import { exactReading } from "./exact-numbers.ts";

test("numbers keep every digit, however long they are", () => {
  const zeros = "0".repeat(1_000_000);
  for (const number of ["12345678901234567891", "-0", `1${zeros}1`, `0.${zeros}1${zeros}1`])
    expect(JSON.stringify(exactReading(`[${number}]`))).toBe(`[${number}]`);
});
