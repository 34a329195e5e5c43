"""What is asked (`plan`), `top_k_eval` (`evaluate`), and the metric functions (`functions`)."""
