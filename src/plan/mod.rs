//! What a policy costs, and the settings that follow from it.
