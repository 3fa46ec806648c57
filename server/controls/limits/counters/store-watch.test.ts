import { expect, test } from "bun:test";
import { until } from "../../../../tests/support/until.ts";
import { StoreWatch } from "./store-watch.ts";

test("a shared store that is away is told of once, and once that it is back", async () => {
  const told: string[] = [];
  const note = (event: string) => void told.push(event);
  let isAway = true;
  let looks = 0;
  const watch = new StoreWatch({
    run: async () => {
      looks++;
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
      async () => looks,
      (n) => n >= 3,
    );
    expect(told).toEqual(["limits_store_away"]);
    expect(watch.isAway()).toBe(true);
    isAway = false;
    await until(
      async () => told.length,
      (n) => n > 1,
    );
    expect(told).toEqual(["limits_store_away", "limits_store_back"]);
    expect(watch.isAway()).toBe(false);
  } finally {
    watch.close();
  }
});

test("a store that comes back as it was some time before is held anew, and calls that a limit could refuse wait until it is whole", async () => {
  const done: unknown[] = [];
  let server = "first";
  let looks = 0;
  const watch = new StoreWatch({
    async run() {
      looks++;
      return ["one", "0", server];
    },
    log: { debug() {}, info() {}, error() {}, warn: (event: string) => void done.push(event) } as never,
    putBack: async (setBack) => void done.push({ setBack }),
    recorded: async () => {},
    holdBack: async (ms) => void done.push(ms >= 10_000),
    settlesMs: 0,
  });
  try {
    // There is a second look only after the first has seen which server it is.
    await until(
      async () => looks,
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
