import { z } from "zod";
import { pageQuery, recordId, search } from "./conventions.ts";
import { listedMode, mode } from "./models.ts";

const ids = z.array(recordId).min(1).max(1000);

/** Body of a DELETE, which may have its IDs in the query instead. */
export const maybeModelIds = z.strictObject({ model_ids: ids.optional(), llm_model_ids: ids.optional().describe("same as model_ids") });

/** Exactly one of the two members; `model_ids` is preferred. */
export const modelIds = maybeModelIds
  .refine((body) => (body.model_ids === undefined) !== (body.llm_model_ids === undefined), { path: ["model_ids"], message: "is required" })
  .meta({ id: "ModelIds" });

/** DELETE takes the IDs in the body, or comma-separated in the query for clients that cannot send a body with DELETE. */
export const modelIdsQuery = z.strictObject({ model_ids: z.string().max(40_000).optional().describe("comma list, instead of a body") });

export const bindingResult = z
  .strictObject({ bound: z.array(recordId).describe("bound now"), already_bound: z.array(recordId) })
  .meta({ id: "BindingResult" });

export const unbindingResult = z
  .strictObject({ unbound: z.array(recordId).describe("unbound now"), not_bound: z.array(recordId) })
  .meta({ id: "UnbindingResult" });

export const portalVisibility = z.strictObject({ portal_visible: z.boolean() }).meta({ id: "PortalVisibility" });

export const groupModel = z
  .strictObject({
    id: recordId,
    name: z.string(),
    model_name: z.string(),
    provider: z.string(),
    mode: listedMode.describe("routing: the virtual model of a routing group, whose members are granted on their own"),
    modes: z.array(mode),
    enabled: z.boolean(),
    portal_visible: z.boolean().describe("whether the portal's picker shows it; access does not depend on it"),
    judge_only: z.boolean().describe("true: it only judges for a semantic policy of the group, and nobody may call it there"),
    inherited: z.boolean().describe("false: bound to this group itself"),
    bound_group_id: recordId.describe("the group with the binding: this one or the nearest above from which it is inherited"),
    bound_group_name: z.string(),
  })
  .meta({ id: "GroupModel" });

export const groupModelQuery = z.strictObject({ ...pageQuery.shape, search });

export type GroupModel = z.output<typeof groupModel>;
