import { expect, test } from "bun:test";
import { bodyShare } from "./group-size.ts";

const MIB = 1024 * 1024;

test("bodies in flight share a quarter of the memory, divided among the processes", () => {
  expect(bodyShare(8192 * MIB, 4, 32 * MIB)).toBe(512 * MIB);
});

test("with little memory, two bodies of the maximum size may still be in flight", () => {
  expect(bodyShare(512 * MIB, 8, 32 * MIB)).toBe(64 * MIB);
  expect(bodyShare(2048 * MIB, 1, 1024 * MIB)).toBe(2048 * MIB);
});
