import { connectorType, kbIdentity } from "./kb-identities.ts";
import { portalKnowledgeBase } from "./knowledge-bases.ts";
import { z } from "zod";
import { approval } from "./approvals.ts";
import { recordId, timestamp } from "./conventions.ts";
import { alert, consumption } from "./limits.ts";
import { exemption, noticeSurface } from "./notices.ts";

/** Answers of the end-user portal API (interface 4.4). */

const count = z.number().int();
const paged = { total: count, page: count, page_size: count };

const whoLoggedIn = { id: recordId, username: z.string() };

export const portalSession = z
  .strictObject({
    access_token: z.string(),
    token_type: z.literal("bearer"),
    expires_in: count.describe("seconds"),
    user: z.strictObject({
      ...whoLoggedIn,
      email: z.string().nullable(),
      display_name: z.string().nullable(),
      is_verified: z.boolean(),
      metadata: z.record(z.string(), z.unknown()),
      must_change_password: z.literal(true).optional().describe("the password must be changed before anything else"),
    }),
  })
  .meta({ id: "PortalSession" });

export const secondFactorAsked = z
  .strictObject({ requires_2fa: z.literal(true), temp_token: z.string(), user: z.strictObject(whoLoggedIn) })
  .meta({ id: "SecondFactorAsked" });

export const portalLoginAnswer = z.union([portalSession, secondFactorAsked]);
export const changedPassword = portalSession.extend({ success: z.boolean() }).meta({ id: "ChangedPassword" });

export const registered = z
  .strictObject({ ...whoLoggedIn, email: z.string().nullable(), display_name: z.string().nullable(), created_at: timestamp })
  .meta({ id: "Registered" });

export const validToken = z
  .strictObject({ valid: z.boolean(), user: z.strictObject(whoLoggedIn), tenant_id: z.string() })
  .meta({ id: "ValidToken" });

export const signedOut = z.strictObject({ success: z.boolean(), message: z.string() }).meta({ id: "SignedOut" });

export const secondFactorState = z
  .strictObject({ enabled: z.boolean(), pending: z.boolean(), backup_codes_remaining: count })
  .meta({ id: "SecondFactorState" });
export const secondFactorBegun = z
  .strictObject({ secret: z.string(), otpauth_url: z.string(), backup_codes: z.array(z.string()) })
  .meta({ id: "SecondFactorBegun" });
export const secondFactorChanged = z.strictObject({ success: z.boolean(), enabled: z.boolean() }).meta({ id: "SecondFactorChanged" });

export const portalProfile = z
  .strictObject({
    ...whoLoggedIn,
    email: z.string().nullable(),
    display_name: z.string().nullable(),
    is_verified: z.boolean(),
    created_at: timestamp,
    last_login: timestamp.nullable(),
    metadata: z.record(z.string(), z.unknown()),
    avatar_url: z.string().nullable(),
    totp_enabled: z.boolean(),
    has_password: z
      .boolean()
      .describe(
        "a password that can be changed: false for people who only sign in with an identity provider, and if the tenant accepts no passwords",
      ),
    primary_group_id: recordId.nullable(),
  })
  .meta({ id: "PortalProfile" });

export const portalGroups = z
  .strictObject({
    groups: z.array(
      z.strictObject({
        id: recordId,
        name: z.string(),
        display_name: z.string().nullable(),
        description: z.string().nullable(),
        is_primary: z.boolean(),
      }),
    ),
    primary_group_id: recordId.nullable(),
  })
  .meta({ id: "PortalGroups" });

export const primaryGroupChosen = z
  .strictObject({ primary_group_id: recordId, previous_primary_group_id: recordId.nullable() })
  .meta({ id: "PrimaryGroupChosen" });

const dollars = z.number().nullable().describe("dollars; null if unknown");

export const portalModel = z
  .strictObject({
    id: z.string(),
    model_id: z.string().describe("as its provider knows it"),
    name: z.string(),
    provider: z.string(),
    enabled: z.boolean(),
    is_healthy: z.boolean().nullable().describe("null if unknown"),
    input_cost_per_million_tokens: dollars,
    output_cost_per_million_tokens: dollars,
    context_window: count.nullable(),
    max_output_tokens: count.nullable(),
    modes: z.array(z.string()),
    supports_vision: z.boolean(),
    supports_tools: z.boolean(),
    supports_file_uploads: z.boolean(),
    supports_streaming: z.boolean(),
    icon_url: z.string().nullable(),
    description: z.string().nullable(),
  })
  .meta({ id: "PortalModel" });
export const portalModelList = z.strictObject({ models: z.array(portalModel), total: count }).meta({ id: "PortalModels" });

export const notification = z
  .strictObject({
    id: z.string(),
    notification_type: z.string(),
    title: z.string(),
    body: z.string(),
    metadata: z.record(z.string(), z.unknown()),
    is_read: z.boolean(),
    read_at: timestamp.nullable(),
    created_at: timestamp,
    expires_at: timestamp.nullable(),
  })
  .meta({ id: "Notification" });
export const notifications = z.strictObject({ notifications: z.array(notification), ...paged }).meta({ id: "Notifications" });
export const unreadCount = z.strictObject({ unread_count: count }).meta({ id: "UnreadCount" });
export const allRead = z.strictObject({ success: z.boolean(), marked: count }).meta({ id: "AllRead" });

export const alertOfPortal = alert.extend({ acknowledged: z.boolean(), acknowledged_at: timestamp.nullable() }).meta({ id: "PortalAlert" });
export const portalAlerts = z.strictObject({ alerts: z.array(alertOfPortal), ...paged }).meta({ id: "PortalAlerts" });
export const alertAcknowledged = z
  .strictObject({ id: z.string(), acknowledged: z.boolean(), acknowledged_at: timestamp })
  .meta({ id: "AlertAcknowledged" });

export const portalApproval = approval
  .extend({
    may_resolve: z.boolean().describe("whether the reader may decide on it while it is pending: nobody decides on their own requests"),
    may_approve: z
      .boolean()
      .describe("whether the reader may also approve it: nobody approves a call with a key that they made or rotated"),
  })
  .meta({ id: "PortalApproval" });
export const portalApprovals = z.strictObject({ approvals: z.array(portalApproval), ...paged }).meta({ id: "PortalApprovals" });
export const pendingCount = z
  .strictObject({ pending_count: count.describe("number of approvals that the reader may decide on") })
  .meta({ id: "PendingCount" });
export const approvalPoll = z
  .strictObject({
    id: recordId,
    status: z.string(),
    approval_token: z.string().optional().describe("for the requester, once approved and not used yet"),
    expires_at: timestamp,
  })
  .meta({ id: "ApprovalPoll" });

export const portalServer = z
  .strictObject({
    id: recordId,
    name: z.string(),
    display_name: z.string().nullable(),
    description: z.string().nullable(),
    display_description: z.string().nullable(),
    enabled: z.boolean(),
    priority: z.number(),
    icon_url: z.string().nullable(),
    is_default: z.boolean(),
    mcp_server: z.strictObject({
      id: z.string(),
      name: z.string(),
      enabled: z.boolean(),
      auth_type: z.string(),
      timeout_seconds: z.number(),
      capabilities: z.unknown(),
    }),
    oauth_client: z.strictObject({ client_id: z.string(), scopes: z.array(z.string()) }).nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "PortalServer" });
export const portalServerList = z.strictObject({ servers: z.array(portalServer), total: count }).meta({ id: "PortalServers" });

const portalSkill = z
  .strictObject({ id: z.string(), name: z.string(), description: z.string(), version: count, execution_count: count })
  .meta({ id: "PortalSkill" });
export const portalSkills = z.strictObject({ skills: z.array(portalSkill), total: count }).meta({ id: "PortalSkills" });
export const portalCollections = z
  .strictObject({ collections: z.array(portalKnowledgeBase), total: count })
  .meta({ id: "PortalCollections" });
export const identityConnectors = z
  .strictObject({ connectors: z.array(z.strictObject({ connector_type: connectorType, name: z.string() })), total: count })
  .meta({ id: "IdentityConnectors" });
export const identityMappings = z.strictObject({ mappings: z.array(kbIdentity), total: count }).meta({ id: "IdentityMappings" });

const usedLimit = consumption.shape.limits.element
  .omit({ drawn_by: true })
  .extend({ model_name: z.string().nullable().describe("the model that the limit is for; null: all models") });
export const ownUsage = z
  .strictObject({ groups: z.array(z.strictObject({ group_id: z.string(), at: z.string(), limits: z.array(usedLimit) })) })
  .meta({ id: "OwnUsage" });

export const appResource = z
  .strictObject({
    uri: z.string(),
    content: z.string().describe("base64 if the server sent no text"),
    mime_type: z.string().nullable(),
    size_bytes: count,
    _meta: z.unknown(),
  })
  .meta({ id: "AppResource" });

export const runRated = z
  .strictObject({ run_id: z.string(), score: z.union([z.literal(1), z.literal(-1)]).nullable() })
  .meta({ id: "RunRated" });

export const portalNotice = z
  .strictObject({
    enabled: z.boolean(),
    surface: noticeSurface,
    text: z.record(z.string(), z.string()).describe("by locale"),
    text_sha256: z.record(z.string(), z.string()).describe("of each text's UTF-8 bytes, hex"),
    exemption: exemption.optional(),
  })
  .meta({ id: "PortalNotice" });
export const noticeRecorded = z.strictObject({ record_id: z.string() }).meta({ id: "NoticeRecorded" });

/** Errors of the portal and of the compatible surfaces. Some codes have further members (docs/reference/errors.md). */
export const runtimeError = z
  .looseObject({
    error: z.union([z.string(), z.record(z.string(), z.unknown())]).describe("the message; on some surfaces an object"),
    code: z.string().optional().describe("the problem, for programs"),
    fields: z.array(z.object({ field: z.string(), message: z.string() })).optional(),
  })
  .meta({ id: "RuntimeError" });
