import { expect, test } from "bun:test";
import { startupFailureReason } from "./startup-failure.ts";

test("the reason of a failed initdb is taken from one line of its output", () => {
  const full = `The files belonging to this database system will be owned by user "postgres".

running bootstrap script ...
2026-11-27 22:26:49.124 UTC [1419] FATAL:  could not extend file "base/1/2691": wrote only 4096 of 8192 bytes at block 7
2026-11-27 22:26:49.124 UTC [1419] HINT:  Check free disk space.
2026-11-27 22:26:49.267 UTC [1419] PANIC:  cannot abort transaction 1, it was already committed
initdb: removing data directory "/x"
`;
  expect(startupFailureReason(full)).toBe(
    'could not extend file "base/1/2691": wrote only 4096 of 8192 bytes at block 7 (Check free disk space.)',
  );
  expect(startupFailureReason("initdb: error: could not access directory\n")).toBe("could not access directory");
  expect(startupFailureReason("\nKilled\n")).toBe("Killed");
  expect(startupFailureReason("")).toBe("it says nothing of why");
});
