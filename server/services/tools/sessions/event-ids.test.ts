import { expect, test } from "bun:test";
import { secretBox } from "../../../kernel/secrets.ts";
import { boundEventIds, upstreamEventId } from "./event-ids.ts";

test.each(["7", "stream/1#é", "日-7"])("event ID %j goes back to its server with the same bytes", (id) => {
  const secrets = secretBox(new Uint8Array(32));
  const frame = new TextDecoder().decode(boundEventIds(secrets, "ada")(new TextEncoder().encode(`id: ${id}\ndata: {}\n\n`)));
  const given = /^id: ([\w.-]+)\ndata: \{\}\n\n$/.exec(frame)?.[1] ?? "";
  const { headers } = new Request("http://tools.example", { headers: { "last-event-id": upstreamEventId(secrets, "ada", given) ?? "" } });
  expect(Buffer.from(headers.get("last-event-id") ?? "", "latin1").toString()).toBe(id);
  expect(upstreamEventId(secrets, "bob", given)).toBeNull();
});
