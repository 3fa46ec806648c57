import { model, modelCreate, modelQuery, modelUpdate } from "@gatehouse/contracts/models";
import { models } from "../../../directory/models/models.ts";
import { resource } from "../resource.ts";

export const modelOperations = resource({
  path: "/v1/admin/llms",
  key: "llms",
  noun: "model",
  tag: "Models",
  area: "models",
  table: "models",
  records: models,
  query: modelQuery,
  create: modelCreate,
  update: modelUpdate,
  read: model,
  notes: {
    list: "With mode=routing, the virtual models of the routing groups. They are read by their id as well, and change with their group.",
    create:
      "With group_ids it is bound to those resource groups at once. What the body leaves out of a model in the catalog is " +
      "filled from there, its token prices all or none. " +
      "The record of a provider the gateway knows is made when the tenant has none.",
    remove: "Its bindings are deleted with it, and what groups set for it.",
  },
});
