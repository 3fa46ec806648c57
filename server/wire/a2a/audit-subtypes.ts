/** The audit subtype of each A2A v1.0 operation. */
export const A2A_SUBTYPES = {
  SendMessage: "message_send",
  SendStreamingMessage: "message_stream",
  GetTask: "task_get",
  ListTasks: "task_list",
  CancelTask: "task_cancel",
  SubscribeToTask: "task_subscribe",
  CreateTaskPushNotificationConfig: "push_config_create",
  GetTaskPushNotificationConfig: "push_config_get",
  ListTaskPushNotificationConfigs: "push_config_list",
  DeleteTaskPushNotificationConfig: "push_config_delete",
  GetExtendedAgentCard: "extended_agent_card",
} as const;
