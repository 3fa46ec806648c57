import { queries } from "@gatehouse/web-kit/app-frame.tsx";
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, retainSearchParams } from "@tanstack/react-router";
import { adminSession } from "./admin-client.ts";
import { changeSearchOf } from "./audit/change-search.ts";
import { rowSearchOf } from "./audit/row-search.ts";
import { provisioningSearchOf } from "./sign-on/provisioning-search.ts";
import { ConsoleFailed, ConsoleFrame, ConsoleNotFound } from "./console-frame.tsx";

let shownAt: string | null = null;
/** Drops cached data when the tenant changes, except the tenant list and the API document, which belong to none. */
function showTenant(tenant: string | null): void {
  adminSession.setHeader("x-tenant-id", tenant);
  if (tenant !== shownAt)
    queries.removeQueries({
      predicate: ({ queryKey: [first, second] }) => first !== "openapi" && !(first === "records" && second === "tenants"),
    });
  shownAt = tenant;
}

/** The tenant a system administrator looks at is in every page's URL; without it, the gateway uses the default tenant. */
const root = createRootRoute({
  component: ConsoleFrame,
  notFoundComponent: ConsoleNotFound,
  validateSearch: (given: Record<string, unknown>): { tenant?: string } => {
    const { tenant } = given;
    return typeof tenant === "string" && tenant !== "" ? { tenant } : {};
  },
  search: { middlewares: [retainSearchParams(["tenant"])] },
  beforeLoad: ({ search, preload }) => {
    if (!preload) showTenant(search.tenant ?? null);
  },
});

/** Every page of the console, each in a chunk that is loaded on demand. */
const pages = [
  createRoute({ getParentRoute: () => root, path: "/", component: lazyRouteComponent(() => import("./pages/home.tsx"), "HomePage") }),
  createRoute({
    getParentRoute: () => root,
    path: "/audit",
    validateSearch: rowSearchOf,
    component: lazyRouteComponent(() => import("./pages/audit.tsx"), "AuditPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/chains",
    component: lazyRouteComponent(() => import("./pages/chains.tsx"), "ChainsPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/runs/$id",
    component: lazyRouteComponent(() => import("./pages/run-timeline.tsx"), "RunTimelinePage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/agent-tasks/$agent/$task",
    component: lazyRouteComponent(() => import("./pages/agent-task.tsx"), "AgentTaskPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/agent-signing-keys",
    component: lazyRouteComponent(() => import("./pages/agent-signing-keys.tsx"), "AgentSigningKeysPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/approvals",
    component: lazyRouteComponent(() => import("./pages/approvals.tsx"), "WaitingApprovalsPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/alerts",
    component: lazyRouteComponent(() => import("./pages/raised-alerts.tsx"), "RaisedAlertsPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/findings",
    component: lazyRouteComponent(() => import("./pages/findings.tsx"), "FindingsPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/usage",
    component: lazyRouteComponent(() => import("./pages/usage.tsx"), "UsagePage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/batch-jobs",
    component: lazyRouteComponent(() => import("./pages/batch-jobs.tsx"), "BatchJobsPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/model-catalog",
    component: lazyRouteComponent(() => import("./pages/model-catalog.tsx"), "ModelCatalogPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/erasure",
    component: lazyRouteComponent(() => import("./pages/erasure.tsx"), "ErasurePage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/compliance",
    component: lazyRouteComponent(() => import("./pages/compliance.tsx"), "CompliancePage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/residency",
    component: lazyRouteComponent(() => import("./pages/residency.tsx"), "ResidencyPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/usage-import",
    component: lazyRouteComponent(() => import("./pages/usage-import.tsx"), "UsageImportPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/discovery",
    component: lazyRouteComponent(() => import("./pages/discovery.tsx"), "DiscoveryPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/notice",
    component: lazyRouteComponent(() => import("./pages/notice.tsx"), "NoticePage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/notice/$id",
    component: lazyRouteComponent(() => import("./pages/notice.tsx"), "NoticePage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/admin-log",
    validateSearch: changeSearchOf,
    component: lazyRouteComponent(() => import("./pages/admin-log.tsx"), "AdminLogPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/provisioning-log",
    validateSearch: provisioningSearchOf,
    component: lazyRouteComponent(() => import("./pages/provisioning-log.tsx"), "ProvisioningLogPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/manage/$kind",
    component: lazyRouteComponent(() => import("./pages/records.tsx"), "RecordsPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/manage/$kind/new",
    component: lazyRouteComponent(() => import("./pages/new-record.tsx"), "NewRecordPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/manage/$kind/$id",
    component: lazyRouteComponent(() => import("./pages/record.tsx"), "RecordPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/account",
    component: lazyRouteComponent(() => import("./pages/account.tsx"), "AccountPage"),
  }),
];

export const consoleRouter = createRouter({
  routeTree: root.addChildren(pages),
  basepath: "/console",
  defaultErrorComponent: ConsoleFailed,
  defaultPreload: "intent",
  scrollRestoration: true,
});
