import { afterEach, expect, test } from "bun:test";
import { ApiError } from "../../web/kit/src/api-error.ts";
import { type Grant, Session } from "../../web/kit/src/session.ts";

const ownFetch = globalThis.fetch;
afterEach(() => {
  globalThis.fetch = ownFetch;
});

const PATH = "/session";
const SIGN_OUT = "/sign-out";
const RENEW = `${PATH}/renew`;
const LASTING = 900;
const granted = (token: string, id = "anna", expires_in = LASTING): Grant => ({
  ...{ access_token: token, expires_in },
  user: { id, username: id },
});

/** A session, and what it sends: one line of method, address and token per request, answered by `answer`. */
function watchedSession(answer: (request: string) => Response | Promise<Response>) {
  const sent: string[] = [];
  globalThis.fetch = (async (address: string, init: RequestInit) => {
    const token = new Headers(init.headers).get("authorization")?.replace("Bearer ", "");
    const request = [init.method, address, token].filter((part) => part !== undefined).join(" ");
    sent.push(request);
    return address === SIGN_OUT ? Response.json({ continue_at: null }) : answer(request);
  }) as typeof fetch;
  return { session: new Session({ name: crypto.randomUUID(), path: PATH, signOutPath: SIGN_OUT }), sent };
}

const nothing = () => new Response(null, { status: 204 });
const refused = () => Response.json({ error: "no" }, { status: 401 });

test("a sign-out with an expired token ends the session with a renewed one", async () => {
  const { session, sent } = watchedSession((request) => (request === `POST ${RENEW}` ? Response.json(granted("next")) : nothing()));
  await session.begin(granted("old", "anna", 0));
  await session.end();
  expect(sent.slice(1)).toEqual([`POST ${RENEW}`, `POST ${SIGN_OUT} next`, `DELETE ${PATH} next`]);
  expect(session.snapshot()).toEqual({ state: "out", ended: false });
});

test("a token refused at sign-out is renewed once, and a second refusal is an error", async () => {
  const answered = (isKnown: (request: string) => boolean) =>
    watchedSession((request) => {
      if (request === `POST ${RENEW}`) return Response.json(granted("next"));
      return isKnown(request) ? nothing() : refused();
    });
  const renewed = answered((request) => !request.startsWith("DELETE") || request.endsWith("next"));
  await renewed.session.begin(granted("old"));
  await renewed.session.end();
  expect(renewed.sent.slice(-3)).toEqual([`DELETE ${PATH} old`, `POST ${RENEW}`, `DELETE ${PATH} next`]);
  expect(renewed.session.snapshot().state).toBe("out");

  const stubborn = answered((request) => !request.startsWith("DELETE"));
  await stubborn.session.begin(granted("old"));
  expect(await stubborn.session.end().catch((error: unknown) => error)).toMatchObject({ status: 401 });
  expect(stubborn.session.snapshot().state).toBe("in");
});

test("a sign-out is complete if the renewal finds no session", async () => {
  const { session, sent } = watchedSession((request) => (request.startsWith("DELETE") ? refused() : nothing()));
  await session.begin(granted("old"));
  await session.end();
  expect(sent.slice(-2)).toEqual([`DELETE ${PATH} old`, `POST ${RENEW}`]);
  expect(session.snapshot()).toEqual({ state: "out", ended: false });
});

test("a renewal that returns another person shows that person, and sends nothing in their name", async () => {
  const { session } = watchedSession((request) => (request === `POST ${RENEW}` ? Response.json(granted("theirs", "berta")) : nothing()));
  await session.begin(granted("old", "anna", 0));
  const told = await session.token().catch((error: unknown) => error);
  expect(told).toBeInstanceOf(ApiError);
  expect(told).toMatchObject({ status: 409, message: "Somebody else has signed in in this browser." });
  expect(session.snapshot()).toMatchObject({ state: "in", user: { id: "berta" } });
  expect(await session.token()).toBe("theirs");
});

test("a sign-out that finds another person signed in leaves them signed in", async () => {
  const { session, sent } = watchedSession((request) =>
    request === `POST ${RENEW}` ? Response.json(granted("theirs", "berta")) : nothing(),
  );
  await session.begin(granted("old", "anna", 0));
  expect(await session.end().catch((error: unknown) => error)).toMatchObject({ status: 409 });
  expect(sent.slice(1)).toEqual([`POST ${RENEW}`]);
  expect(session.snapshot()).toMatchObject({ state: "in", user: { id: "berta" } });
});

test("a session is resumed after temporary failures of the gateway at page load", async () => {
  let tries = 0;
  const { session, sent } = watchedSession(() => {
    tries++;
    if (tries === 1) throw new TypeError("Failed to fetch");
    return tries === 2 ? Response.json({ error: "starting" }, { status: 503 }) : Response.json(granted("next"));
  });
  await session.resume();
  expect(session.snapshot()).toEqual({ state: "in", user: granted("next").user });
  expect(sent).toEqual(Array.from({ length: 3 }, () => `POST ${RENEW}`));
});

test("a refused resume is not repeated", async () => {
  const { session, sent } = watchedSession(() => Response.json({ error: "no" }, { status: 403 }));
  await session.resume();
  expect([session.snapshot(), sent]).toEqual([{ state: "out", ended: false }, [`POST ${RENEW}`]]);
});

test("a sign-in during a pending resume is kept", async () => {
  for (const late of [nothing(), Response.json(granted("former", "berta"))]) {
    const asked = Promise.withResolvers<Response>();
    const { session } = watchedSession((request) => (request === `POST ${RENEW}` ? asked.promise : nothing()));
    const resumed = session.resume();
    await session.begin(granted("signed in"));
    asked.resolve(late);
    await resumed;
    expect(session.snapshot()).toEqual({ state: "in", user: granted("signed in").user });
    expect(await session.token()).toBe("signed in");
  }
});
