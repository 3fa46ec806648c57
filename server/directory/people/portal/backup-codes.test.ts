import { expect, test } from "bun:test";
import { newBackupCodes, readBackupCode } from "./backup-codes.ts";

test("ten backup codes, each with its own slot, are read in any case and spacing", () => {
  const codes = newBackupCodes();
  expect(codes.map((code) => readBackupCode(code)?.slot)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  for (const code of codes) {
    expect(readBackupCode(` ${code.toUpperCase().replaceAll("-", " ")} `)).toEqual(readBackupCode(code));
    expect(code).toMatch(/^\d[2-9a-z]{3}-[2-9a-z]{4}-[2-9a-z]{4}$/);
  }
});

test("malformed backup codes are rejected", () => {
  for (const text of ["", "123456", "x234-5678-9abc", "0234-5678-9ab", "0234-5678-9abcd", "0234-5678-9ab!"])
    expect(readBackupCode(text)).toBeNull();
});
