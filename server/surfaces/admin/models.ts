import { model, modelCreate, modelQuery, modelUpdate } from "@gatehouse/contracts/models";
import { models } from "../../directory/models/models.ts";
import { resource } from "./resource.ts";

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
    create: "With group_ids it is bound to those resource groups at once.",
    remove: "Its bindings go with it.",
  },
});
