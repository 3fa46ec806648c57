import { expect, test } from "bun:test";
import { until } from "../../../tests/support/until.ts";
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
