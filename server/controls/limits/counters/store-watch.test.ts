import { expect, test } from "bun:test";
import { until } from "../../../../tests/support/until.ts";
import { StoreWatch } from "./store-watch.ts";

test("an outage of the shared store is logged once, and so is its end", async () => {
  const logged: string[] = [];
  const note = (event: string) => void logged.push(event);
  let isAway = true;
  let polls = 0;
  const watch = new StoreWatch({
    run: async () => {
      polls++;
      if (isAway) throw new Error("Connection closed");
      return ["one", "0"];
    },
    log: { debug: note, info: note, warn: note, error: note } as never,
    putBack: async () => {},
    recorded: async () => {},
    holdBack: async () => {},
    settlesMs: 0,
  });
  try {
    await until(
      async () => polls,
      (n) => n >= 3,
    );
    expect(logged).toEqual(["limits_store_away"]);
    expect(watch.isAway()).toBe(true);
    isAway = false;
    await until(
      async () => logged.length,
      (n) => n > 1,
    );
    expect(logged).toEqual(["limits_store_away", "limits_store_back"]);
    expect(watch.isAway()).toBe(false);
  } finally {
    watch.close();
  }
});

test("when the store returns in an earlier state, holds are restored and calls that a limit could refuse wait", async () => {
  const done: unknown[] = [];
  let server = "first";
  let polls = 0;
  const watch = new StoreWatch({
    async run() {
      polls++;
      return ["one", "0", server];
    },
    log: { debug() {}, info() {}, error() {}, warn: (event: string) => void done.push(event) } as never,
    putBack: async (setBack) => void done.push({ setBack }),
    recorded: async () => {},
    holdBack: async (ms) => void done.push(ms >= 10_000),
    settlesMs: 0,
  });
  try {
    // There is a second poll only after the first has seen which server it is.
    await until(
      async () => polls,
      (n) => n > 1,
    );
    server = "second";
    await until(
      async () => done.length,
      (n) => n >= 3,
    );
    expect(done.slice(0, 3)).toEqual([{ setBack: true }, "limits_store_set_back", true]);
  } finally {
    watch.close();
  }
});
