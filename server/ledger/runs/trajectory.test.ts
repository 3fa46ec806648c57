import { expect, test } from "bun:test";
import { trajectoryOf } from "./trajectory.ts";

const llm = (fields = {}) => ({ proxy_type: "llm", ...fields });
const tool = (fields = {}) => ({ proxy_type: "mcp", ...fields });

test("a turn starts with each model call and contains the tool calls that follow", () => {
  const { turns, actions } = trajectoryOf([tool(), llm(), tool(), tool(), llm(), tool()]);
  expect(turns.map((turn) => [turn.turn_seq, turn.inferred, turn.calls])).toEqual([
    [1, true, 4],
    [2, true, 2],
  ]);
  expect(actions.map((action) => action.turn_seq)).toEqual([1, 1, 1, 1, 2, 2]);
});

test("calls to judges and embeddings and lists of models start no turn", () => {
  const { turns } = trajectoryOf([
    llm(),
    ...["semantic_policy_judge", "semantic_cache_embedding", "guardrail_model", "models_list"].map((proxy_subtype) =>
      llm({ proxy_subtype }),
    ),
    tool(),
    llm(),
  ]);
  expect(turns.map((turn) => [turn.turn_seq, turn.calls])).toEqual([
    [1, 6],
    [2, 1],
  ]);
});

test("turns and steps named by the caller are used, and late calls belong to none", () => {
  const { turns, steps, actions } = trajectoryOf([
    llm({ turn_id: "a", step_id: "s" }),
    tool({ turn_id: "a" }),
    llm({ turn_seq: 2 }),
    tool({ turn_id: "a", step_id: "s", step_name: "S" }),
    llm({ turn_id: "b", tags: ["late"] }),
  ]);
  expect(turns.map((turn) => [turn.turn_id, turn.turn_seq, turn.inferred, turn.calls])).toEqual([
    ["a", null, false, 3],
    [null, 2, false, 1],
  ]);
  expect(steps).toEqual([{ step_id: "s", step_name: "S", calls: 2 }]);
  expect(actions.at(-1)).toMatchObject({ late: true, turn_id: null });
});

test("an ID is never confused with the number or name of another turn or step", () => {
  const { turns, steps } = trajectoryOf([llm({ turn_id: "#2", step_id: "#plan" }), llm({ turn_seq: 2, step_name: "plan" })]);
  expect(turns.map((turn) => [turn.turn_id, turn.turn_seq, turn.calls])).toEqual([
    ["#2", null, 1],
    [null, 2, 1],
  ]);
  expect(steps.map((step) => [step.step_id, step.step_name, step.calls])).toEqual([
    ["#plan", null, 1],
    [null, "plan", 1],
  ]);
});

test("an action's target is what was called, whoever the actor was", () => {
  const { actions } = trajectoryOf([
    llm({ llm_model_used: "m", actor_agent_id: "system" }),
    tool({ mcp_method: "tools/list", server_id: "server", actor_agent_id: "system" }),
    { proxy_type: "a2a", server_id: "agent", actor_agent_id: "system" },
    { proxy_type: "a2a", actor_agent_id: "system" },
    llm({ source: "otel", llm_model_requested: "asked" }),
  ]);
  expect(actions.map(({ target }) => target)).toEqual(["m", "server", "agent", null, "asked"]);
});

test("a span that repeats a call, or wraps one, starts no turn", () => {
  const span = (proxy_subtype: string, fields = {}) => llm({ source: "otel", proxy_subtype, ...fields });
  const { turns, actions } = trajectoryOf([
    span("agent_step"),
    span("chat", { joined: true }),
    llm({ source: "gateway", proxy_subtype: "chat_completions" }),
    tool({ source: "otel", proxy_subtype: "execute_tool" }),
    span("agent_step"),
    span("chat"),
  ]);
  expect(turns.map((turn) => [turn.turn_seq, turn.calls])).toEqual([
    [1, 4],
    [2, 1],
  ]);
  expect(actions.map((action) => action.turn_seq)).toEqual([1, null, 1, 1, 1, 2]);
});
