"""How good translations are: sacreBLEU's scores with signatures, significance, accuracy."""
